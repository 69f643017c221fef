/** Finds active content in an SVG: scripts, event handlers, HTML, references to other files, a DOCTYPE. */
import { SaxesParser, type SaxesTagNS } from 'saxes'

const SVG = 'http://www.w3.org/2000/svg'
/** Elements that run scripts, contain HTML, or change attributes after loading. */
const ACTIVE = ['script', 'foreignobject', 'iframe', 'embed', 'object', 'audio', 'video', 'handler', 'listener']
const ANIMATIONS = ['animate', 'set', 'animatetransform', 'animatemotion']
/** Styles that load a file: imports, and `url(…)` unless it refers to a part of the same drawing. */
const LOADING_STYLE = /url\(\s*["']?\s*(?!#)|@import|expression\(|image-set\(|\\/i

/** The drawing's fault, as the end of the sentence "the file …"; undefined if it is harmless. */
export function svgFault(bytes: Uint8Array): string | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return NEITHER
  }
  if (!text.trimStart().startsWith('<')) return NEITHER
  return faultOf(text)
}

const NEITHER = 'is neither a PNG nor an SVG in UTF-8'

class Found extends Error {}

function faultOf(text: string): string | undefined {
  const parser = new SaxesParser({ xmlns: true })
  const open: string[] = []
  const refuse = (fault: string) => {
    throw new Found(`${fault} (line ${parser.line})`)
  }
  parser.on('error', () => refuse('is no well-formed XML'))
  parser.on('doctype', () => refuse('has a DOCTYPE'))
  parser.on('processinginstruction', () => refuse('has a processing instruction'))
  parser.on('opentag', (tag) => {
    if (open.length === 0 && (tag.local !== 'svg' || tag.uri !== SVG)) refuse('is no SVG')
    open.push(tag.local.toLowerCase())
    const fault = tagFault(tag)
    if (fault !== undefined) refuse(fault)
  })
  parser.on('closetag', () => open.pop())
  const check = (piece: string) => {
    if (open.at(-1) === 'style' && LOADING_STYLE.test(piece)) refuse('has a style that loads something')
  }
  parser.on('text', check)
  parser.on('cdata', check)
  try {
    parser.write(text).close()
    return undefined
  } catch (error) {
    if (error instanceof Found) return error.message
    throw error
  }
}

function tagFault({ name, local, attributes }: SaxesTagNS): string | undefined {
  const element = local.toLowerCase()
  if (ACTIVE.includes(element)) return `has an element <${name}>, which is not allowed`
  for (const { name: attribute, local: key, value } of Object.values(attributes)) {
    const lower = key.toLowerCase()
    if (lower.startsWith('on')) return `has an event handler ${attribute}`
    const isReference = lower === 'href' || lower === 'src'
    if (isReference && !value.trim().startsWith('#')) return `refers to something outside of it: ${attribute}`
    if (ANIMATIONS.includes(element) && lower === 'attributename' && /href|^on/i.test(value)) {
      return `has an animation of ${value}`
    }
    if (LOADING_STYLE.test(value)) return `has an attribute ${attribute} that loads something`
  }
  return undefined
}
