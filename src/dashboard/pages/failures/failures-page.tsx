/** The page of an account's own failed requests. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { FailuresList } from './failures-list'

export function FailuresPage() {
  return (
    <Page
      title="Failed requests"
      description={
        <>
          Requests that were refused or that failed, and why. They cost nothing; what was charged is under{' '}
          <Anchor component={Link} href="/usage" underline="always">
            Usage
          </Anchor>
          . Kept for seven days, without anything that was said in them.
        </>
      }
    >
      <FailuresList />
    </Page>
  )
}
