/** Shared by response bodies: pages, times, amounts and files. */
import { type ArrayOptions, type ObjectOptions, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Page } from '@/db/paging'
import { formatUsd, type Nano } from '@/lib/money'
import { orNull } from '@/lib/schemas'
import { NextCursor } from './pages'

export const NullableText = orNull(Type.String())
export const DecimalUsd = Type.String({ description: 'Decimal USD' })

/** The schema of an amount in USD with a description. */
export function exactUsd(description: string) {
  return Type.String({ description: `${description}, USD as exact decimal text` })
}

/** A body with exactly these fields. With a plain schema, Elysia would silently remove additional fields instead of refusing them. */
export function exactly<Fields extends TProperties>(fields: Fields, options: ObjectOptions = {}) {
  return Type.Object(fields, { additionalProperties: Type.Never(), ...options })
}

export const NoFields = exactly({})

/** The schema of a page of a list: its items, and the cursor of the next page. */
export function listOf<Item extends TSchema>(item: Item, options: ArrayOptions = {}) {
  return Type.Object({ items: Type.Array(item, options), nextCursor: NextCursor })
}

/** A page with its items converted. */
export function mapPage<Item, Body>(page: Page<Item>, toBody: (item: Item) => Body): Page<Body> {
  return { ...page, items: page.items.map((item) => toBody(item)) }
}

type IsoMoments<Row> = {
  [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] extends Date | null ? string | null : Row[Name]
}

/** Copies a row, with its dates as ISO 8601 in UTC. */
export function isoMoments<Row extends object>(row: Row): IsoMoments<Row> {
  const fields = Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(fields) as IsoMoments<Row>
}

/** Converts amounts to exact decimal USD, under the same names. */
export function inUsd<Name extends string>(amounts: Record<Name, Nano>): Record<Name, string> {
  const fields = Object.entries<Nano>(amounts).map(([name, amount]) => [name, formatUsd(amount)])
  return Object.fromEntries(fields) as Record<Name, string>
}

export const CSV_FILE = {
  200: { description: 'CSV with a header row', content: { 'text/csv': { schema: { type: 'string' } } } },
} as const

/** A CSV file with this name. */
export function csvFile(name: string, text: string): Response {
  return fileAnswer(name, 'text/csv', text)
}

/** A response of media type `type` that browsers save as a file. */
export function fileAnswer(name: string, type: string, text: string | ReadableStream<Uint8Array>): Response {
  return new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
