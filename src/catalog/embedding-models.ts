/** Embedding models in the catalogue file, turned into the shape of chat models, with no output and no cache prices. */
import type { AnyModelFile } from './any-model-file'
import type { FaultList } from './check'
import type { EmbeddingModelFile } from './schema'
import type { Provider } from './types'

/** The entry in a chat model's shape: every input token has the same price, and there is no output. */
export function asModelFile({ pricing, targets, ...file }: EmbeddingModelFile): AnyModelFile {
  const { inputPer1mTokens } = pricing
  return {
    ...file,
    targets: targets.map(({ cost, ...target }) => ({ ...target, ...(cost && { cost: costOf(cost) }) })),
    pricing: {
      inputPer1mTokens,
      cacheReadPer1mTokens: inputPer1mTokens,
      cacheWritePer1mTokens: inputPer1mTokens,
      cacheWrite1hPer1mTokens: inputPer1mTokens,
      outputPer1mTokens: 0,
      ...costOf(pricing),
    },
    maxOutputTokens: 0,
  }
}

/** Reports a fault for each target whose provider's format has no embeddings. */
export function checkEmbedders(
  { targets }: AnyModelFile,
  place: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): void {
  for (const [index, { provider: name }] of targets.entries()) {
    const provider = providers.get(name)
    if (!provider || provider.dialect.embeddingsUrl) continue
    const { format, dialect } = provider
    faults.add(
      `${place}.targets[${index}].provider`,
      `${name} speaks ${format}${by(dialect.name)}, which has no embeddings`,
    )
  }
}

/** Reports a fault for each target whose provider only supports embeddings. */
export function checkTalkers(
  { targets }: AnyModelFile,
  place: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): void {
  for (const [index, { provider: name }] of targets.entries()) {
    const { dialect } = providers.get(name) ?? {}
    if (dialect?.embeddings)
      faults.add(`${place}.targets[${index}].provider`, `${name} embeds, and answers no conversation`)
  }
}

function by(dialect: string | undefined): string {
  return dialect === undefined ? '' : ` by ${dialect}`
}

function costOf({ costPer1mInputTokens: cost }: { costPer1mInputTokens?: number }) {
  if (cost === undefined) return {}
  return {
    costPer1mInputTokens: cost,
    costPer1mCacheReadTokens: cost,
    costPer1mCacheWriteTokens: cost,
    costPer1mCacheWrite1hTokens: cost,
    costPer1mOutputTokens: 0,
  }
}
