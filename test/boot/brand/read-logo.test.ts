/** The operator's logo: small PNG and SVG files are accepted, SVG files with active content are not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLogo } from '@/boot/brand/read-logo'
import { loadSettings } from '@/boot/load-settings'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logos-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(content: string | Uint8Array) {
  const path = join(folder, crypto.randomUUID())
  await Bun.write(path, content)
  return await readLogo(path)
}

const svg = (inside: string, attributes = '') =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`

test('a logo with gradients, styles and internal references is accepted', async () => {
  const drawing = svg(
    '<style>.a{fill:url(#g)}</style><defs><linearGradient id="g"/></defs><path class="a" d="M0 0"/><use xlink:href="#p"/>',
    'viewBox="0 0 32 32"',
  )
  expect(await read(drawing)).toMatchObject({
    kind: 'read',
    logo: { contentType: 'image/svg+xml', name: expect.stringMatching(/^logo-[a-z0-9]+\.svg$/) },
  })
})

test('a PNG logo is recognized by its first bytes', async () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0)
  expect(await read(png)).toMatchObject({ kind: 'read', logo: { contentType: 'image/png' } })
})

describe('a refused logo', () => {
  test.each([
    ['a script', svg('<script>alert(1)</script>'), '<script>'],
    ['a script of another prefix', svg('<s:script xmlns:s="http://www.w3.org/2000/svg"/>'), '<s:script>'],
    ['an event handler', svg('', 'onload="alert(1)"'), 'event handler onload'],
    ['an event handler in capitals', svg('<g onClick="x()"/>'), 'event handler onClick'],
    ['HTML', svg('<foreignObject><p>x</p></foreignObject>'), '<foreignObject>'],
    ['a link to a script', svg('<a href="javascript:alert(1)"/>'), 'outside of it: href'],
    ['an image from elsewhere', svg('<image xlink:href="https://example.test/x.png"/>'), 'outside of it: xlink:href'],
    ['an image as data', svg('<image href="data:image/svg+xml,x"/>'), 'outside of it: href'],
    ['a style that loads a file', svg('<style>@import url(https://example.test/x.css)</style>'), 'style that loads'],
    ['a style in CDATA that loads a file', svg('<style><![CDATA[a{fill:url(//x)}]]></style>'), 'style that loads'],
    ['an attribute that loads a file', svg('<path fill="url(https://example.test/#a)"/>'), 'attribute fill that loads'],
    ['an escape in a style', svg('<path style="fill:u\\72l(//x)"/>'), 'attribute style that loads'],
    ['an animation of a link', svg('<a><set attributeName="href" to="javascript:x"/></a>'), 'animation of href'],
    ['a DOCTYPE', '<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>', 'DOCTYPE'],
    ['a stylesheet', '<?xml-stylesheet href="x"?><svg xmlns="http://www.w3.org/2000/svg"/>', 'processing instruction'],
    ['broken XML', '<svg xmlns="http://www.w3.org/2000/svg"><g></svg>', 'no well-formed XML'],
    ['HTML instead of SVG', '<html xmlns="http://www.w3.org/1999/xhtml"/>', 'is no SVG'],
    ['text', 'logo', 'neither a PNG nor an SVG'],
    ['bytes', Uint8Array.of(0xff, 0xd8, 0xff), 'neither a PNG nor an SVG'],
    ['a large file', svg(`<desc>${'x'.repeat(65_536)}</desc>`), 'larger than 65536 bytes'],
  ])('a logo with %s is refused with the reason', async (_, content, reason) => {
    expect(await read(content)).toEqual({ kind: 'faulty', message: expect.stringContaining(reason) })
  })

  test('a folder or a missing file is refused', async () => {
    for (const path of [folder, join(folder, 'none')]) {
      expect(await readLogo(path)).toEqual({ kind: 'faulty', message: `cannot read ${path}` })
    }
  })
})

test('the start reports a faulty logo and a faulty colour together', async () => {
  const path = join(folder, 'none')
  const faults = loadSettings({ BRAND_LOGO: path, BRAND_COLOR: '#ffcc00' }).catch(String)
  expect(await faults).toMatch(/BRAND_COLOR.*4\.5:1[\s\S]*BRAND_LOGO.*cannot read/)
})
