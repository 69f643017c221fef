/** The product's logo and name, linked to the start page. */
import { Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { BRAND } from '@/dashboard/brand'

export function Logo() {
  return (
    <Link href="/" style={{ textDecoration: 'none', color: 'inherit' }} aria-label={`${BRAND.name}, home`}>
      <Group gap={8} wrap="nowrap">
        {BRAND.logo === undefined ? <Mark /> : <img src={BRAND.logo} alt="" height={26} style={{ maxWidth: 120 }} />}
        <Text fw={650} size="md" visibleFrom="xs">
          {BRAND.name}
        </Text>
      </Group>
    </Link>
  )
}

/** The program's own logo, in the operator's colour. */
function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill={BRAND.shades?.[6] ?? '#4f46e5'} />
      <path
        d="M8 11h6a4 4 0 0 1 4 4v2a4 4 0 0 0 4 4h2M8 21h4M20 11h4"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  )
}
