/** The name that a client gives its conversation. */

/** Our header, or else the session id that Claude Code sends with each request. */
export function sessionNameOf(headers: Headers): string | undefined {
  return headers.get('x-svc-session') ?? headers.get('x-claude-code-session-id') ?? undefined
}
