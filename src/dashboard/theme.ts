/** The dashboard's appearance: colours, fonts and corners, in both colour schemes, with the contrast that WCAG AA requires. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { BRAND } from './brand'

const INDIGO: MantineColorsTuple = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#818cf8',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
]

/** Colours of the dark scheme, from text to background. */
const DARK: MantineColorsTuple = [
  '#d7dae3',
  '#bdc2cf',
  '#a0a6b6',
  '#7d8496',
  '#3c4252',
  '#2c313d',
  '#1f232c',
  '#16191f',
  '#101217',
  '#0a0b0f',
]

export const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: 6,
  colors: { brand: BRAND.shades ?? INDIGO, dark: DARK },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  black: '#161922',
  fontFamily: '"Inter Variable", Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.3' } } },
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        // No fade-out: during it, a second press of the button would send the form again.
        transitionProps: { transition: 'fade-down', duration: 200, exitDuration: 0 },
      },
    },
    ModalTitle: { defaultProps: { fw: 650 } },
    DrawerTitle: { defaultProps: { fw: 650 } },
    // A header element outside a section would count as a second page header.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
  },
})

/** Text colours on a tint of the same colour, for badges and alerts; the library's own have too little contrast. */
const TINTED = ['brand', 'red', 'green', 'yellow', 'orange', 'blue', 'gray', 'teal']

export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#545b6b',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': '#b42318',
    ...tinted((color) => (color === 'gray' ? '#343a46' : (DEEP[color] ?? colors[color]?.[9] ?? '#111'))),
  },
  dark: {
    '--mantine-color-dimmed': '#a0a6b6',
    '--mantine-color-placeholder': '#8f96a8',
    '--mantine-color-error': '#ff8f87',
    ...tinted((color) => colors[color]?.[3] ?? '#eee'),
  },
})

const DEEP: Readonly<Record<string, string>> = {
  red: '#9f1d14',
  green: '#14612d',
  yellow: '#7a4b00',
  orange: '#8f3a06',
  teal: '#0b5e55',
  blue: '#124a86',
}

function tinted(colorOf: (color: string) => string): Record<string, string> {
  return Object.fromEntries(TINTED.map((color) => [`--mantine-color-${color}-light-color`, colorOf(color)]))
}
