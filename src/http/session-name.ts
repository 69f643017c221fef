/** Reads the name of a conversation from our header, or else from Claude Code's session id. */
export function sessionNameOf(headers: Headers): string | undefined {
  return headers.get('x-svc-session') ?? headers.get('x-claude-code-session-id') ?? undefined
}
