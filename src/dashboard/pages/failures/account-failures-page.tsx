/** The page of another account's failed requests, for administrators. */
import { Anchor } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { FailuresList } from './failures-list'

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
          , the last seven days, without anything that was said in them.
        </span>
      }
    >
      <FailuresList accountId={accountId} />
    </Page>
  )
}
