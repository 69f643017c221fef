/** The page of an account's own statement. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Page } from '@/dashboard/components/page'
import { StatementView } from './statement-view'

export function StatementPage() {
  return (
    <Page
      title="Account statement"
      description={
        <>
          Every movement of your{' '}
          <Anchor component={Link} href="/credit" underline="always">
            credit
          </Anchor>
          , with the balance after it.
        </>
      }
    >
      <StatementView />
    </Page>
  )
}
