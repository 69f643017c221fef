/**
 * A link within a sentence of the pages of sign-in: underlined, so that not its colour alone tells it from the words
 * around it.
 */
import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'

export function TextLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor component={Link} href={href} inherit underline="always">
      {children}
    </Anchor>
  )
}
