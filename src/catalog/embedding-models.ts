/** Models of the catalogue file that embed: their entries in the terms of any other model, with nothing to write and no caches. */
import type { FaultList } from './check'
import type { EmbeddingModelFile, ModelFile } from './schema'
import type { Provider } from './types'

/** A model's entry after its check, whatever its kind. */
export type AnyModelFile = Omit<ModelFile, 'kind'> & { kind?: 'chat' | 'embedding' }

/** The entry as one of a model whose every token of input costs the same, and that writes none. */
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

/** Adds a fault for each target whose provider speaks a format that has no embeddings. */
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

/** Adds a fault for each target whose provider does nothing but embed. */
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
