/** Reads the name that a client gives its conversation. */

/** From our header, or else Claude Code's session id. */
export function sessionNameOf(headers: Headers): string | undefined {
  return headers.get('x-svc-session') ?? headers.get('x-claude-code-session-id') ?? undefined
}
