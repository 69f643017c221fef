/** The frame of pages for people who are not signed in: logo, one card, and a footer. */
import { Anchor, Box, Center, Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { BRAND } from '@/dashboard/brand'
import { BrandLinks } from '@/dashboard/components/brand-links'
import { Logo } from '@/dashboard/components/logo'
import { SchemeToggle } from '@/dashboard/components/scheme-toggle'

type PublicFrameProps = {
  title: string
  description?: ReactNode
  footer?: ReactNode
  children: ReactNode
}

const CARD_WIDTH = 420

export function PublicFrame({ title, description, footer, children }: PublicFrameProps) {
  useDocumentTitle(`${title} · ${BRAND.name}`)
  return (
    <Box mih="100vh" px="md" pb="xl" style={{ display: 'flex', flexDirection: 'column' }}>
      <Group component="header" justify="space-between" h={64} wrap="nowrap">
        <Logo />
        <Group gap="md" wrap="nowrap">
          <Anchor href="/docs/guide" size="sm">
            Guide
          </Anchor>
          <SchemeToggle />
        </Group>
      </Group>
      <Center component="main" style={{ flex: 1 }}>
        <Stack w="100%" maw={CARD_WIDTH} gap="lg" pb="10vh">
          <Box className="surface" p={{ base: 'lg', xs: 'xl' }}>
            <Title order={1}>{title}</Title>
            {description !== undefined && (
              <Text c="dimmed" mt={6} component="div">
                {description}
              </Text>
            )}
            <Box mt="lg">{children}</Box>
          </Box>
          {footer !== undefined && (
            <Text ta="center" size="sm" c="dimmed" component="div">
              {footer}
            </Text>
          )}
        </Stack>
      </Center>
      <BrandLinks />
    </Box>
  )
}
