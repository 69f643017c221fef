/** The beta interfaces of messages: what is known of each, so that a provider is asked for those alone that its prices cover. */
import type { Beta } from '@/chat/protocol'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** Betas, without dates, that cost tokens and nothing else and reach nothing beyond the request. */
const FREE: ReadonlySet<string> = new Set([
  // How the model thinks, and what it tells of it.
  'interleaved-thinking',
  'dev-full-thinking',
  'redact-thinking',
  'thinking-binding-controls',
  'thinking-display-updates',
  'thinking-token-count',
  'effort',
  'task-budgets',
  // How much it reads and writes; the model's entry in the catalogue bounds both, and has the prices of long contexts.
  'context-1m',
  'context-management',
  'model-context-window-exceeded',
  'output-128k',
  'output-300k',
  // What a conversation may look like.
  'claude-code',
  'inline-tools',
  'mid-conversation-output-config',
  'mid-conversation-system',
  'mid-conversation-system-clear-at',
  'mid-conversation-tool-changes',
  'pdfs',
  'structured-outputs',
  // Tools that the caller runs, and how they are offered and called. Those that run at the provider have prices of their own.
  'advanced-tool-use',
  'computer-use',
  'fine-grained-tool-streaming',
  'token-efficient-tools',
  'tool-examples',
  'tool-search-tool',
  // The cache, whose reading and writing are classes of the usage; and counting, which is done here.
  'cache-diagnosis',
  'extended-cache-ttl',
  'prompt-caching',
  'prompt-caching-scope',
  'token-counting',
])

/** The tool that a beta is for: asked for where the catalogue prices the tool. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['code-execution', 'code_execution'],
  ['web-fetch', 'web_fetch'],
  ['web-search', 'web_search'],
])

/** The fields that providers refuse without the beta. Those that are read without it as well are not among them. */
const FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['cache-diagnosis', ['diagnostics']],
  ['compact', ['compaction']],
  ['context-management', ['context_management']],
  ['fallback-credit', ['fallback_credit_token']],
  ['fast-mode', ['speed']],
  ['mcp-client', ['mcp_servers']],
  ['message-threads', ['thread']],
  ['server-side-fallback', ['fallbacks']],
  ['skills', ['container']],
  ['structured-outputs', ['output_format']],
  ['task-budgets', ['output_config.task_budget']],
  ['user-profiles', ['user_profile_id']],
  ['user-profiles-billing', ['billing_policy']],
])

const DATE = /-\d{4}-?\d{2}-?\d{2}$/

/** What is known of the beta that `body` names, or its request's headers. */
export function describeBeta(name: string, body: JsonObject): Beta {
  const family = name.replace(DATE, '')
  const tool = TOOLS.get(family)
  const fields = (FIELDS.get(family) ?? []).filter((path) => hasField(body, path))
  return { name, family, isFree: FREE.has(family), fields, ...(tool !== undefined && { tool }) }
}

function hasField(body: JsonObject, path: string): boolean {
  const [field = '', member] = path.split('.')
  const value = body[field]
  return member === undefined ? value !== undefined : isJsonObject(value) && value[member] !== undefined
}
