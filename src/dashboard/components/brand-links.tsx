/** The footer with the operator's links: terms, privacy, support. Empty if none is set. */
import { Anchor, Group } from '@mantine/core'
import { BRAND } from '@/dashboard/brand'

export function BrandLinks() {
  if (BRAND.links.length === 0) return null
  return (
    <Group component="footer" justify="center" gap="lg" mt="xl" className="no-print">
      {BRAND.links.map(({ label, href }) => (
        <Anchor key={label} href={href} size="sm">
          {label}
        </Anchor>
      ))}
    </Group>
  )
}
