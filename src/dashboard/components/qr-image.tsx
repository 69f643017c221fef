/** A QR code, drawn dark on light in both schemes, which is what scanners expect. */
import { encode } from 'uqr'

/** Modules of light ground around the code. */
const QUIET_ZONE = 4

/** `text` is at most 2,000 characters. */
export function QrImage({ text, label, size = 196 }: { text: string; label: string; size?: number }) {
  const { data, size: width } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${width}`} width={size} height={size}>
      <rect width={width} height={width} fill="#fff" rx="2" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}
