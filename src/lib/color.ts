/** Colours as `#rrggbb`: their contrast by WCAG 2, and lighter or darker shades. */

type Rgb = readonly [red: number, green: number, blue: number]

function rgbOf(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16)
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff]
}

function luminance(color: string): number {
  const [red, green, blue] = rgbOf(color).map((channel) => {
    const share = channel / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast ratio of two colours, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function mix(color: string, other: string, share: number): string {
  const to = rgbOf(other)
  const mixed = rgbOf(color).map((channel, index) => Math.round(channel + ((to[index] ?? 0) - channel) * share))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

/** The contrast that WCAG AA asks of text. */
export const TEXT_CONTRAST = 4.5

type Shades = readonly [string, string, string, string, string, string, string, string, string, string]

/** Ten shades from light to dark. The seventh is `color`; the fifth is so light that text in it is readable on `darkGround`. */
export function shadesOf(color: string, darkGround: string): Shades {
  let share = 0.25
  while (contrastOf(mix(color, '#ffffff', share), darkGround) < TEXT_CONTRAST + 0.2) share += 0.05
  const readable = mix(color, '#ffffff', share)
  return [
    mix(color, '#ffffff', 0.94),
    mix(color, '#ffffff', 0.88),
    mix(readable, '#ffffff', 0.6),
    mix(readable, '#ffffff', 0.35),
    readable,
    mix(color, '#ffffff', share / 2),
    color.toLowerCase(),
    mix(color, '#000000', 0.15),
    mix(color, '#000000', 0.3),
    mix(color, '#000000', 0.4),
  ]
}
