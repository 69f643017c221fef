const FORM = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/

/** Parses an IBAN in any usual spelling to capitals without spaces; undefined if form or check digits (ISO 13616) are wrong. */
export function parseIban(text: string): string | undefined {
  const plain = text.replace(/\s/g, '').toUpperCase()
  if (!FORM.test(plain)) return undefined
  const digits = (plain.slice(4) + plain.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(parseInt(letter, 36)))
  return BigInt(digits) % 97n === 1n ? plain : undefined
}
