/**
 * The valid secrets of one key: a rotation adds one with the next number. The former secret works until a set time, older ones are invalid.
 */

/** For a rotated key: the number of its latest secret, and the end of the previous one (milliseconds since 1970). */
export type KeySecrets = { latest: number; formerEndsAtMs: number }

/** Whether the secret of this number (default: the first) has expired. A newer secret than the latest known one has not. */
export function hasEnded(secret: number | undefined, secrets: KeySecrets | undefined, nowMs: number): boolean {
  if (!secrets) return false
  const behind = secrets.latest - (secret ?? 1)
  return behind > 1 || (behind === 1 && secrets.formerEndsAtMs <= nowMs)
}

const STORED = /^s(\d{1,9}):(\d{1,16}) /

/** The text stored before a key's allowed models. Empty for a key that was never rotated. */
export function secretsText(secrets: KeySecrets | undefined): string {
  return secrets ? `s${secrets.latest}:${secrets.formerEndsAtMs} ` : ''
}

/** Parses {@link secretsText}, and returns the remaining text. */
export function parseSecrets(text: string): { secrets: KeySecrets | undefined; rest: string } {
  const match = STORED.exec(text)
  if (!match) return { secrets: undefined, rest: text }
  const secrets = { latest: Number(match[1]), formerEndsAtMs: Number(match[2]) }
  return { secrets, rest: text.slice(match[0].length) }
}
