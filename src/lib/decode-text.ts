/** Decodes a text file in an unknown encoding, such as a bank statement. */

/** `fault` is a sentence for the person who chose the file. */
type DecodedText = { kind: 'decoded'; text: string } | { kind: 'faulty'; fault: string }

/** How the file's first bytes show its encoding: a byte order mark, or the `<` of XML in UTF-16. */
const FIRST_BYTES: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x3c, 0x00], 'utf-16le'],
  [[0x00, 0x3c], 'utf-16be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
]
/** Longer than any XML declaration. */
const DECLARATION_BYTES = 200
const DECLARATION = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]{1,40})["']/

/**
 * The encoding follows from the first bytes, or else from the XML declaration. XML without either is UTF-8; other text is UTF-8, or else
 * Windows-1252.
 */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): DecodedText {
  const shown = FIRST_BYTES.find(([first]) => first.every((byte, index) => bytes[index] === byte))?.[1]
  const start = new TextDecoder('windows-1252').decode(bytes.subarray(0, DECLARATION_BYTES))
  const declared = shown ?? DECLARATION.exec(start)?.[1]
  if (declared !== undefined || start.trimStart().startsWith('<')) return decode(bytes, declared ?? 'utf-8')
  const decoded = decode(bytes, 'utf-8')
  return decoded.kind === 'decoded' ? decoded : decode(bytes, 'windows-1252')
}

function decode(bytes: Uint8Array<ArrayBuffer>, encoding: string): DecodedText {
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(encoding, { fatal: true })
  } catch {
    return { kind: 'faulty', fault: `The encoding ${encoding} is not known.` }
  }
  try {
    return { kind: 'decoded', text: decoder.decode(bytes) }
  } catch {
    return { kind: 'faulty', fault: `The file is not written in its encoding, ${encoding}.` }
  }
}
