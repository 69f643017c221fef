/** The commands, settings and programs that the documents show, and who runs each of them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'

/** A block between fences. */
export type Block = {
  /** The document's path from the root. */
  document: string
  line: number
  /** What stands behind its fence: its language, and how a test knows it. */
  info: string
  text: string
}

/** What somebody types, or puts into a file. Pictures and what a program prints are neither. */
const LANGUAGES = ['sh', 'bash', 'nginx', 'yaml', 'json', 'toml', 'ini', 'ts', 'python', 'java', 'sql']

/** Every such block of README.md, docs/, the guide and the pages for operators. */
export async function documentedBlocks(): Promise<Block[]> {
  const names = (folder: string) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'))
  const documents = [
    'README.md',
    ...names('docs').map((name) => `docs/${name}`),
    ...names('docs/guide').map((name) => `docs/guide/${name}`),
    ...names('docs/operations').map((name) => `docs/operations/${name}`),
  ]
  const read = await Promise.all(
    documents.map(async (document) => blocksIn(document, await Bun.file(join(ROOT, document)).text())),
  )
  return read.flat().filter(({ info }) => LANGUAGES.includes(info.split(' ')[0] ?? ''))
}

/** The blocks of one document. */
export function blocksIn(document: string, source: string): Block[] {
  return [...source.matchAll(/^ *```(\S[^\n]*)\n([\s\S]*?)^ *```$/gm)].map((block) => ({
    document,
    line: source.slice(0, block.index).split('\n').length,
    info: block[1] ?? '',
    text: block[2] ?? '',
  }))
}

/** Who runs a block: a test by its path, or nobody, and why. */
type Runner = { by: string } | { why: string }

type Rule = { document: string; info?: string; begins?: string } & Runner

const GUIDE = 'docs/guide/'
const LIBRARIES =
  'test/clients runs the same libraries with the same options; this is the line that differs from their own documentation'

/** The first rule that fits a block says who runs it. */
export const RULES: readonly Rule[] = [
  { document: 'docs/guide/deploy.md', info: 'sh operator', by: 'test/http/guide/deploy.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh drill', by: 'test/http/guide/deploy.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'nginx proxy', by: 'test/http/guide/deploy.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh machine', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster secrets', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster redis', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster join', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster postgres', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster settings', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster migrator', by: 'test/deploy/machines/machines.ts' },
  { document: 'docs/guide/deploy.md', info: 'nginx cluster upstream', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster health', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster operate', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster restart', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh cluster reload', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh backup', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh restore', by: 'test/deploy/machines/machines.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh environment', by: 'test/deploy/documents/blocks.test.ts' },
  { document: 'docs/guide/deploy.md', info: 'sh kubernetes', by: 'test/deploy/documents/blocks.test.ts' },
  {
    document: 'docs/guide/deploy.md',
    info: 'sh systemd',
    why: 'a machine of its own would be needed; the unit is what machines.ts starts gateways by',
  },
  {
    document: 'docs/guide/deploy.md',
    begins: 'docker compose',
    why: 'there is no Docker; compose-schema.test.ts, compose.test.ts and image.test.ts hold what it would start',
  },
  { document: GUIDE, info: 'sh run', by: 'test/http/guide/snippets.test.ts' },
  { document: GUIDE, info: 'sh run refused', by: 'test/http/guide/snippets.test.ts' },
  { document: GUIDE, info: 'ts run', by: 'test/http/guide/snippets.test.ts' },
  { document: GUIDE, info: 'python run', by: 'test/http/guide/snippets.test.ts' },
  {
    document: 'docs/guide/audio.md',
    info: 'ts',
    why: 'the default catalogue has no models of sound; test/clients/audio.test.ts makes the same calls',
  },
  {
    document: 'docs/guide/pictures.md',
    info: 'ts',
    why: 'the default catalogue has no models of pictures; test/clients/pictures.test.ts makes the same calls',
  },
  {
    document: 'docs/operations/catalogue.md',
    info: 'json providers',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  { document: 'docs/operations/catalogue.md', info: 'sh', by: 'test/cli/suggest-models.test.ts' },
  { document: 'docs/operations/catalogue.md', info: 'json pricing', by: 'test/catalog/service-tiers.test.ts' },
  { document: 'docs/operations/catalogue.md', info: 'json lines', by: 'test/catalog/price-line-file.test.ts' },
  {
    document: 'docs/operations/azure.md',
    info: 'json providers',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  {
    document: 'docs/operations/bedrock.md',
    info: 'json providers',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  {
    document: 'docs/operations/bedrock.md',
    info: 'json policy',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  {
    document: 'docs/operations/vertex.md',
    info: 'json providers',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  {
    document: 'docs/operations/services.md',
    info: 'json providers',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  {
    document: 'docs/operations/vertex.md',
    info: 'json targets',
    by: 'test/catalog/dialects/documented-entries.test.ts',
  },
  { document: 'docs/operations/running.md', begins: 'cp .env.example', by: 'test/deploy/documents/blocks.test.ts' },
  { document: 'docs/operations/commands.md', info: 'sh dropped month', by: 'test/cli/dropped-month.test.ts' },
  { document: 'docs/operations/commands.md', info: 'sh loaded month', by: 'test/cli/dropped-month.test.ts' },
  { document: 'docs/operations/selling-credit.md', begins: 'bun run admin', by: 'test/console/http/books.test.ts' },
  { document: 'docs/operations/stores.md', begins: 'sed ', by: 'test/boot/key-prefix.test.ts' },
  { document: 'docs/operations/commands.md', begins: 'bun run admin', by: 'test/cli/docs.test.ts' },
  {
    document: 'docs/operations/commands.md',
    begins: 'printf \'%s\' "$NEW_PASSWORD" | bun run admin',
    by: 'test/cli/docs.test.ts',
  },
  {
    document: 'README.md',
    begins: 'npx -y bun',
    why: 'it is how every test is started, and test/boot/first-minutes.test.ts is the first start',
  },
  { document: 'README.md', begins: 'curl', by: 'test/deploy/documents/blocks.test.ts' },
  { document: 'README.md', info: 'ts', by: 'test/deploy/documents/blocks.test.ts' },
  { document: 'docs/guide/rerank.md', info: 'ts', by: 'test/clients/rerank.test.ts' },
  { document: 'docs/guide/libraries.md', info: 'ts', why: LIBRARIES },
  { document: 'docs/guide/libraries.md', info: 'python', why: LIBRARIES },
  { document: 'docs/guide/libraries.md', info: 'java', why: LIBRARIES },
  {
    document: 'docs/guide/coding-tools.md',
    info: 'json zed',
    why: 'the settings of an editor, which has no test without a screen',
  },
  {
    document: 'docs/guide/coding-tools.md',
    why: '`bun run clients:cli` does the same, with programs that are no part of the project',
  },
]

/** The rule that says who runs a block; undefined if none does. */
export function ruleOf({ document, info, text }: Block): Rule | undefined {
  return RULES.find(
    (rule) =>
      (rule.document.endsWith('/') ? document.startsWith(rule.document) : document === rule.document) &&
      (rule.info === undefined || rule.info === info) &&
      (rule.begins === undefined || text.startsWith(rule.begins)),
  )
}
