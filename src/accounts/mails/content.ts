/** The content of a mail, before it is rendered as text and HTML. */
import type { OptionalKind } from '@/db/alert-schema'

export type Block =
  | { text: string }
  | {
      button: string
      /** The path below `/dashboard/`. The mail's token, if any, is appended. */
      page: string
    }
  | { caption?: string; rows: readonly (readonly [name: string, value: string])[] }

export type MailContent = { subject: string; blocks: readonly Block[] }

export type Template<Facts> = {
  /** Hours after which the mail is no longer sent: the lifetime of its link, or a week. */
  hours: number
  /** The kind of mail that people can turn off. */
  optional?: OptionalKind
  write(facts: Facts): MailContent
}

const MAX_NAME_CHARS = 80

/**
 * Changes a user's text so that mail programs find no links: removes invisible characters, and splits the text at dots and slashes.
 */
export function withoutLinks(name: string): string {
  const plain = name.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const text = plain.replace(/[/:@<>\\]/g, ' ').replace(/([.。])(?=\S)/g, '$1 ')
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_CHARS)
}

/** Rows for the time (ISO 8601) and the network address of an action. */
export function whenAndWhere(at: string, address: string): [string, string][] {
  return [
    ['When', momentText(at)],
    ['From address', address],
  ]
}

/** A time (ISO 8601) for people, in UTC. */
export function momentText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
