/** URLs of messages providers, and the quirks that a catalogue entry can set. */
import type { Endpoint } from '@/formats/format'
import { isJsonObject, textOf } from '@/lib/json'

export const VERSION_HEADER = 'anthropic-version'

export const DEFAULT_VERSION = '2023-06-01'

export const QUIRKS = {
  /** System messages are allowed inside the conversation; otherwise they become user text in `<system>` tags. */
  midSystem: 'mid-system',
  /** The last message must be the user's. */
  noPrefill: 'no-prefill',
  /** Omit temperature, top_p and top_k. */
  noSampling: 'no-sampling',
  /** Omit top_p if there is a temperature. */
  temperatureOrTopP: 'temperature-or-top-p',
  /** Omit thinking and effort. */
  noThinking: 'no-thinking',
  /** The model decides how much to think, guided by an effort; a budget would be refused. */
  adaptiveThinking: 'adaptive-thinking',
  /** Thinking can't be switched off, so tool calls can't be forced: the requirement becomes an instruction. */
  alwaysThinking: 'always-thinking',
  /** The model lacks `output_config.format`: a schema becomes an instruction. */
  noOutputFormat: 'no-output-format',
  /** Omit `strict` in tools. */
  noStrictTools: 'no-strict-tools',
  /** URLs of images and files are refused: only bytes are accepted. */
  noUrlSources: 'no-url-sources',
  /** Pass on features without a price, such as compaction. */
  unpricedExtras: 'unpriced-extras',
} as const

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/v1/messages`,
  credential: { header: 'x-api-key', prefix: '' },
  headers: { [VERSION_HEADER]: DEFAULT_VERSION },
  modelList: {
    url: ({ baseUrl }, cursor) =>
      `${baseUrl}/v1/models?limit=1000${cursor === undefined ? '' : `&after_id=${encodeURIComponent(cursor)}`}`,
    readPage(json) {
      if (!isJsonObject(json) || !Array.isArray(json.data)) return undefined
      return { entries: json.data, next: json.has_more === true ? textOf(json.last_id) : undefined }
    },
  },
  hasServiceTiers: false,
  sandboxPath: '',
}
