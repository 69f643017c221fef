/** The paths of messages providers, and the quirks that the catalogue can set for encoder and pass-through. */
import type { Endpoint } from '@/formats/format'

/** The version of the messages protocol: its header, and the default. */
export const VERSION_HEADER = 'anthropic-version'

/** The last version that takes sampling parameters. */
export const DEFAULT_VERSION = '2023-06-01'

/** What the messages encoder and pass-through can do differently for a provider; the catalogue names them. */
export const QUIRKS = {
  /** System messages may stand inside the conversation; elsewhere they become user text in `<system>` tags. */
  midSystem: 'mid-system',
  /** The last message must be the user's. */
  noPrefill: 'no-prefill',
  /** Leave temperature, top_p and top_k out. */
  noSampling: 'no-sampling',
  /** Leave top_p out where temperature is given, too. */
  temperatureOrTopP: 'temperature-or-top-p',
  /** Leave thinking and effort out. */
  noThinking: 'no-thinking',
  /** The model decides how much to think, guided by an effort; a budget would be refused. */
  adaptiveThinking: 'adaptive-thinking',
  /** Thinking can't be switched off, so no tool call can be forced: the demand becomes an instruction. */
  alwaysThinking: 'always-thinking',
  /** The model lacks `output_config.format`: a schema becomes an instruction. */
  noOutputFormat: 'no-output-format',
  /** Leave `strict` out of tools. */
  noStrictTools: 'no-strict-tools',
  /** Addresses of images and files are refused: only bytes are taken. */
  noUrlSources: 'no-url-sources',
  /** Let through what no price covers, such as a compaction. */
  unpricedExtras: 'unpriced-extras',
} as const

/** Where messages providers are called, in which version of the protocol. */
export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/v1/messages`,
  credential: { header: 'x-api-key', prefix: '' },
  headers: { [VERSION_HEADER]: DEFAULT_VERSION },
  hasServiceTiers: false,
  sandboxPath: '',
}
