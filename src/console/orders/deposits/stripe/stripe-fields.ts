/** Fields of Stripe's objects, checked as they are read. */
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'

/** An amount and its currency; undefined if one of them is invalid. */
export function readMoney(amount: unknown, currency: unknown): { amountCents: number; currency: string } | undefined {
  if (typeof amount !== 'number' || !Number.isInteger(amount) || amount <= 0 || amount > MAX_PAYMENT_CENTS)
    return undefined
  if (typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency)) return undefined
  return { amountCents: amount, currency: currency.toUpperCase() }
}

/** An id, or the id of an object that Stripe has expanded in its place. */
export function idOf(value: unknown): string | undefined {
  return textOf(value) ?? textIn(value, 'id')
}

/** A text within an object. */
export function textIn(object: unknown, name: string): string | undefined {
  return textOf(fieldOf(object, name))
}

/** A field of a value of unknown type. */
export function fieldOf(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined
}

/** A printable text of usual length. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\P{C}{1,180}$/u.test(value) ? value : undefined
}
