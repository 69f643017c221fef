/** The failed-requests pages: the account's own, and any account's for administrators. */
import { Anchor } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { FailuresList } from './failures-list'

/** The page of the account's own failed requests. */
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
          . Kept for 30 days, without anything that was said in them.
        </>
      }
    >
      <FailuresList />
    </Page>
  )
}

/** The page of another account's failed requests, for administrators. */
export function AdminFailuresPage() {
  const { accountId = '' } = useParams<{ accountId: string }>()
  return (
    <Page
      title="Failed requests"
      description={
        <span className="wrap-anywhere">
          <Anchor component={Link} href={`/admin/accounts/${accountId}`} underline="always">
            {accountId}
          </Anchor>
          , the last 30 days, without anything that was said in them.
        </span>
      }
    >
      <FailuresList accountId={accountId} />
    </Page>
  )
}
