/** The colours of the charts: distinguishable for everybody, also with colour blindness, and with enough contrast. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

type Vector = readonly [number, number, number]

const css = await Bun.file(join(import.meta.dir, '../../../../src/dashboard/dashboard.css')).text()
const [light = '', dark = ''] = css.split(':root[data-mantine-color-scheme="dark"]')

/** What WCAG asks of graphics (1.4.11). */
const MIN_CONTRAST = 3
/** In Oklab, where 0.02 is about the least that anybody sees; the set before this had 0.026 for deuteranopes. */
const MIN_DISTANCE = 0.14
/** Tritanopia is rare, and takes the least. */
const MIN_DISTANCE_TRITAN = 0.09

/** Who sees how: Machado, Oliveira and Fernandes (2009), complete deficiency, for linear RGB. */
const SIGHTS: Readonly<Record<string, readonly Vector[]>> = {
  'everybody else': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopes: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopes: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  tritanopes: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

function variableOf(text: string, name: string): string {
  const value = new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(text)?.[1]
  if (value === undefined) throw new Error(`no colour ${name}`)
  return value
}

function linear(hex: string): Vector {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

function contrast(one: string, other: string): number {
  const luminance = ([red, green, blue]: Vector) => 0.2126 * red + 0.7152 * green + 0.0722 * blue
  const [dim = 0, bright = 0] = [luminance(linear(one)), luminance(linear(other))].sort((a, b) => a - b)
  return (bright + 0.05) / (dim + 0.05)
}

function times(matrix: readonly Vector[], [x, y, z]: Vector): Vector {
  const row = (index: number) => {
    const [a, b, c] = matrix[index] ?? [0, 0, 0]
    return a * x + b * y + c * z
  }
  return [row(0), row(1), row(2)]
}

function oklab(color: Vector): Vector {
  const [red, green, blue] = color.map((value) => Math.min(1, Math.max(0, value))) as unknown as Vector
  const cones: readonly Vector[] = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ]
  const [long, medium, short] = times(cones, [red, green, blue]).map(Math.cbrt) as unknown as Vector
  const opponents: readonly Vector[] = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ]
  return times(opponents, [long, medium, short])
}

function distance([a, b, c]: Vector, [x, y, z]: Vector): number {
  return Math.hypot(a - x, b - y, c - z)
}

describe.each([
  ['light', light],
  ['dark', dark],
])('chart colours in the %s scheme', (_scheme, text) => {
  const colors = Array.from({ length: 8 }, (_, index) => variableOf(text, `series-${index + 1}`))

  test('every chart colour contrasts with the background', () => {
    for (const color of colors)
      expect(contrast(color, variableOf(text, 'surface'))).toBeGreaterThanOrEqual(MIN_CONTRAST)
  })

  test.each(Object.entries(SIGHTS))('people with %s can distinguish all chart colours', (who, matrix) => {
    const seen = colors.map((color) => oklab(times(matrix, linear(color))))
    const least = who === 'tritanopes' ? MIN_DISTANCE_TRITAN : MIN_DISTANCE
    const alike = colors.flatMap((color, index) =>
      colors
        .slice(index + 1)
        .filter((_, later) => distance(seen[index] ?? [0, 0, 0], seen[index + 1 + later] ?? [0, 0, 0]) < least)
        .map((other) => `${color} and ${other}`),
    )
    expect(alike).toEqual([])
  })
})
