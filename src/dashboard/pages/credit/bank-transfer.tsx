/** Where to transfer an order's amount, with everything to copy into a bank's form. */
import { Alert, SimpleGrid, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { Section } from '@/dashboard/components/section'
import { formatMoney } from '@/dashboard/format'
import { Countdown } from './countdown'
import type { OrderDetail } from './order-data'
import { groupIban } from './words'

export function BankTransfer({ order }: { order: OrderDetail }) {
  const { bank, reference, amountUsd, paymentAccount } = order
  const iban = paymentAccount ?? ''
  const amount = formatMoney(amountUsd).replace(/[$,]/g, '')
  return (
    <Section
      title="Transfer exactly this amount"
      description={
        <>
          With the reference, so that we can tell whose payment it is.{' '}
          <span className="no-print">
            You have <Countdown until={order.expiresAt} /> left.
          </span>
        </>
      }
    >
      {bank?.isExample && (
        <Alert color="red" icon={<IconAlertTriangle />} title="Do not pay to this account" mb="md">
          These are example details: nobody has configured an account.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" verticalSpacing="md">
        <CopyField label="Amount" value={amount} shown={`${amount} USD`} />
        <CopyField label="Reference" value={reference} />
        {bank && <CopyField label="Beneficiary" value={bank.beneficiary} />}
        <CopyField label="IBAN" value={iban} shown={groupIban(iban)} />
        {bank?.bic && <CopyField label="BIC" value={bank.bic} />}
        {bank?.bank && <CopyField label="Bank" value={bank.bank} />}
        {bank?.address && <CopyField label="Beneficiary's address" value={bank.address} />}
      </SimpleGrid>
      {bank?.note && !bank.isExample && (
        <Text size="sm" c="dimmed" mt="md">
          {bank.note}
        </Text>
      )}
    </Section>
  )
}
