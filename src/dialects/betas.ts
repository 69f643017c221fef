/** The beta features of `messages` that each cloud supports, by the cloud's names. A cloud refuses a request that names any other beta. */
import type { Beta } from '@/chat/protocol'

/** Clouds that sell Claude; Anthropic itself accepts all betas. `mantle` is Bedrock's own `/anthropic`. */
export type Cloud = 'bedrock' | 'mantle' | 'vertex' | 'foundry'

/** A beta's name at each cloud. A cloud without an entry would refuse the beta, so the beta is omitted and reported. */
type Row = Readonly<Partial<Record<Cloud, string>>>

const carriedBy = (...clouds: Cloud[]): Row => Object.fromEntries(clouds.map((cloud) => [cloud, CARRIED]))
const CARRIED = 'carried'
const TOOL_SEARCH = 'tool-search-tool-2025-10-19'

/** The betas, by name without date. Checked on 2026-11-28 against the clouds' documentation and users' reports. */
export const BETAS: Readonly<Record<string, Row>> = {
  'advanced-tool-use': { ...carriedBy('foundry'), bedrock: TOOL_SEARCH, mantle: TOOL_SEARCH, vertex: TOOL_SEARCH },
  'cache-diagnosis': carriedBy(),
  'claude-code': carriedBy('mantle'),
  'code-execution': carriedBy('foundry'),
  compact: carriedBy('bedrock', 'mantle', 'vertex'),
  'computer-use': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'context-1m': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'context-management': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'dev-full-thinking': carriedBy(),
  effort: carriedBy('bedrock', 'mantle', 'foundry'),
  'extended-cache-ttl': carriedBy(),
  'fine-grained-tool-streaming': carriedBy('bedrock', 'mantle'),
  'inline-tools': carriedBy(),
  'interleaved-thinking': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'mid-conversation-output-config': carriedBy('bedrock'),
  'mid-conversation-system': carriedBy('bedrock'),
  'mid-conversation-system-clear-at': carriedBy('bedrock'),
  'mid-conversation-tool-changes': carriedBy('bedrock'),
  'model-context-window-exceeded': carriedBy(),
  'output-128k': carriedBy('mantle'),
  'output-300k': carriedBy(),
  pdfs: carriedBy(),
  'prompt-caching': carriedBy(),
  'prompt-caching-scope': carriedBy('foundry'),
  'redact-thinking': carriedBy(),
  'structured-outputs': carriedBy('mantle', 'foundry'),
  'task-budgets': carriedBy(),
  'thinking-binding-controls': carriedBy('bedrock', 'mantle', 'vertex'),
  'thinking-display-updates': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'thinking-token-count': carriedBy(),
  'token-counting': carriedBy(),
  'token-efficient-tools': carriedBy('mantle'),
  'tool-examples': carriedBy('mantle'),
  'tool-search-tool': carriedBy('bedrock', 'mantle', 'vertex', 'foundry'),
  'web-fetch': carriedBy('foundry'),
  'web-search': carriedBy('mantle', 'vertex', 'foundry'),
}

/** The cloud's name of a beta; undefined if the cloud doesn't support it. */
export function betaNamesOf(cloud: Cloud): (beta: Beta) => string | undefined {
  return ({ name, family }) => {
    const told = Object.hasOwn(BETAS, family) ? BETAS[family]?.[cloud] : undefined
    return told === CARRIED ? name : told
  }
}

const BETA_HEADER = 'anthropic-beta'

/** The betas in the header. Clouds that ignore the header get them in the body. */
export function headerBetas(headers: Readonly<Record<string, string>>): string[] {
  return headers[BETA_HEADER]?.split(',').flatMap((name) => name.trim() || []) ?? []
}
