/** The page for an unknown URL. */
import { Button } from '@mantine/core'
import { IconMapPinOff } from '@tabler/icons-react'
import { Link } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { EmptyState } from './empty-state'

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={IconMapPinOff}
        title="There is no page at this address"
        action={
          <Button component={Link} href="/" variant="default">
            Go to the overview
          </Button>
        }
      />
    </Page>
  )
}
