/**
 * The secrets of a key that work. A rotation adds a secret with the next number. The secret before it works until a set moment;
 * older ones don't.
 */

/** For a rotated key: the number of its latest secret, and the end of the one before (milliseconds since 1970). */
export type KeySecrets = { latest: number; formerEndsAtMs: number }

/** Whether the secret of this number, of the first where left out, has ended. One that is newer than is known has not. */
export function hasEnded(secret: number | undefined, secrets: KeySecrets | undefined, nowMs: number): boolean {
  if (!secrets) return false
  const behind = secrets.latest - (secret ?? 1)
  return behind > 1 || (behind === 1 && secrets.formerEndsAtMs <= nowMs)
}

const STORED = /^s(\d{1,9}):(\d{1,16}) /

/** The secrets as they stand before a key's allowed models in the store. Empty for a key that was never rotated. */
export function secretsText(secrets: KeySecrets | undefined): string {
  return secrets ? `s${secrets.latest}:${secrets.formerEndsAtMs} ` : ''
}

/** Parses {@link secretsText}, and returns the text behind it. */
export function parseSecrets(text: string): { secrets: KeySecrets | undefined; rest: string } {
  const match = STORED.exec(text)
  if (!match) return { secrets: undefined, rest: text }
  const secrets = { latest: Number(match[1]), formerEndsAtMs: Number(match[2]) }
  return { secrets, rest: text.slice(match[0].length) }
}
