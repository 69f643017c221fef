/**
 * Which of a key's secrets work. A key is rotated by being given another secret: the one before goes on for as long as was said, and
 * those before that have ended. Secrets are numbered from 1 on.
 */

/** Of a key that was rotated: the number of its latest secret, and the moment (milliseconds since 1970) at which the one before ends. */
export type KeySecrets = { latest: number; formerEndsAtMs: number }

/** Whether the secret of this number, of the first where left out, has ended. One that is newer than is known has not. */
export function hasEnded(secret: number | undefined, secrets: KeySecrets | undefined, nowMs: number): boolean {
  if (!secrets) return false
  const behind = secrets.latest - (secret ?? 1)
  return behind > 1 || (behind === 1 && secrets.formerEndsAtMs <= nowMs)
}

const STORED = /^s(\d{1,9}):(\d{1,16}) /

/** What stands before a key's allowed models in the store: nothing for a key that was never rotated. */
export function secretsText(secrets: KeySecrets | undefined): string {
  return secrets ? `s${secrets.latest}:${secrets.formerEndsAtMs} ` : ''
}

/** Reads {@link secretsText} back, and what stands behind it. */
export function parseSecrets(text: string): { secrets: KeySecrets | undefined; rest: string } {
  const match = STORED.exec(text)
  if (!match) return { secrets: undefined, rest: text }
  const secrets = { latest: Number(match[1]), formerEndsAtMs: Number(match[2]) }
  return { secrets, rest: text.slice(match[0].length) }
}
