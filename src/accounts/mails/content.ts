/** The content of a mail, before it becomes text and HTML. */
import type { OptionalKind } from '@/db/alert-schema'

/** A paragraph, a link to a page of the dashboard, or facts with their names. */
export type Block =
  | { text: string }
  | {
      button: string
      /** The page's path below `/dashboard/`; the mail's token, if it has one, is added to it. */
      page: string
    }
  | { caption?: string; rows: readonly (readonly [name: string, value: string])[] }

/** A subject, which is the heading as well, and what stands below it. */
export type MailContent = { subject: string; blocks: readonly Block[] }

/** A kind of mail. */
export type Template<Facts> = {
  /** Hours after which it is no longer sent: as long as its link works, or a week. */
  hours: number
  /** The kind under which people turn such mails off. */
  optional?: OptionalKind
  write(facts: Facts): MailContent
}

const MAX_NAME_CHARS = 80

/**
 * A name without links: no mail program finds an address to click on. Every text of a user in a mail passes through it. Other
 * forms of dots and slashes become plain ones, and invisible characters are removed.
 */
export function withoutLinks(name: string): string {
  const plain = name.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const text = plain.replace(/[/:@<>\\]/g, ' ').replace(/([.。])(?=\S)/g, '$1 ')
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_CHARS)
}

/** When (ISO 8601) and from which network address something was done. */
export function whenAndWhere(at: string, address: string): [string, string][] {
  return [
    ['When', momentText(at)],
    ['From address', address],
  ]
}

/** A moment (ISO 8601) as people read it, in UTC. */
export function momentText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`
}
