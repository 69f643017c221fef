/** The page of credit: what is left, how to buy more, and every order so far. */
import { Button, SimpleGrid } from '@mantine/core'
import { IconFileInvoice } from '@tabler/icons-react'
import { Link } from 'wouter'
import { useMay } from '@/dashboard/account'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { Loaded } from '@/dashboard/components/states/loaded'
import { AddCredit } from './add-credit'
import { useBalance, useCreditOptions } from './order-data'
import { OrderList } from './order-list'

export function CreditPage() {
  const options = useCreditOptions()
  const mayPay = useMay()('billing.pay')
  return (
    <Page
      title="Credit"
      description="Requests are paid from your balance. Top it up whenever you like."
      actions={
        <Button component={Link} href="/credit/statement" variant="default" leftSection={<IconFileInvoice size={16} />}>
          Account statement
        </Button>
      }
    >
      <Balance />
      {mayPay && (
        <Section title="Add credit">
          <Loaded query={options}>{(data) => <AddCredit options={data} />}</Loaded>
        </Section>
      )}
      <OrderList />
    </Page>
  )
}

/** Shows dashes where the balance cannot be asked now: ordering works all the same. */
function Balance() {
  const { data, isError } = useBalance()
  const show = (usd: string | undefined) => {
    if (usd !== undefined) return <Money usd={usd} />
    return isError ? '–' : undefined
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
      <Stat label="Available" value={show(data?.available)} hint="For new requests" />
      <Stat label="Held" value={show(data?.held)} hint="By requests that are running" />
      <Stat label="Spent this month" value={show(data?.spentThisMonth)} hint="Since the first, in UTC" />
    </SimpleGrid>
  )
}
