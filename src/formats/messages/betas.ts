import type { Beta } from '@/chat/protocol'
import { isJsonObject, type JsonObject } from '@/lib/json'

const FREE: ReadonlySet<string> = new Set([
  // Betas about thinking and its display.
  'interleaved-thinking',
  'dev-full-thinking',
  'redact-thinking',
  'thinking-binding-controls',
  'thinking-display-updates',
  'thinking-token-count',
  'effort',
  'task-budgets',
  // Betas about the size of context and output: the model's catalogue entry limits both and prices long contexts.
  'context-1m',
  'context-management',
  'model-context-window-exceeded',
  'output-128k',
  'output-300k',
  // Betas that allow further kinds of content in a conversation.
  'claude-code',
  'inline-tools',
  'mid-conversation-output-config',
  'mid-conversation-system',
  'mid-conversation-system-clear-at',
  'mid-conversation-tool-changes',
  'pdfs',
  'structured-outputs',
  // Betas about tools that the caller runs. Provider-run tools have their own prices.
  'advanced-tool-use',
  'computer-use',
  'fine-grained-tool-streaming',
  'token-efficient-tools',
  'tool-examples',
  'tool-search-tool',
  // Betas about the cache, whose reads and writes have prices, and about token counting, which the gateway does.
  'cache-diagnosis',
  'extended-cache-ttl',
  'prompt-caching',
  'prompt-caching-scope',
  'token-counting',
])

/** The tool that a beta enables: the beta is requested if the catalogue prices the tool. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['code-execution', 'code_execution'],
  ['web-fetch', 'web_fetch'],
  ['web-search', 'web_search'],
])

/** Fields that providers refuse without the beta; fields that work without it are not listed. */
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

/** The properties of a beta named in `body` or headers. The gateway requests only betas whose costs the catalogue's prices cover. */
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
