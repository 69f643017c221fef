/** The receipt of a paid order, to print or save. */
import { Anchor, Box, Button, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { IconFileOff, IconPrinter } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatDay } from '@/dashboard/format'
import { type OrderDetail, useOrder } from './order-data'
import { Parties, SheetField } from './parties'
import { usePrintInLight } from './use-print-in-light'
import { methodWords } from './words'

const SHEET_WIDTH = 760

export function ReceiptPage() {
  const { orderId = '' } = useParams<{ orderId: string }>()
  const order = useOrder(orderId)
  usePrintInLight()
  const back = `/credit/orders/${orderId}`
  return (
    <Page
      title="Receipt"
      description={
        <Anchor component={Link} href={back} size="sm" className="no-print">
          Back to the order
        </Anchor>
      }
      actions={
        order.data?.receipt && (
          <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
            Print
          </Button>
        )
      }
    >
      <Loaded query={order}>
        {(data) => (data.receipt ? <Sheet order={data} receipt={data.receipt} /> : <NoReceipt back={back} />)}
      </Loaded>
    </Page>
  )
}

function NoReceipt({ back }: { back: string }) {
  return (
    <EmptyState
      icon={IconFileOff}
      title="There is no receipt yet"
      action={
        <Button component={Link} href={back} variant="default">
          Open the order
        </Button>
      }
    >
      It is made when the payment has arrived.
    </EmptyState>
  )
}

type SheetProps = { order: OrderDetail; receipt: NonNullable<OrderDetail['receipt']> }

function Sheet({ order, receipt }: SheetProps) {
  const { paidUsd, taxUsd, refundedUsd, chargedBackUsd, taxReturnedUsd, totalUsd } = receipt
  return (
    <Box className="surface" p={{ base: 'lg', sm: 'xl' }} maw={SHEET_WIDTH}>
      <Stack gap="xl">
        <Parties order={order} />
        <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="lg">
          <SheetField label="Number" lines={[receipt.number]} />
          <SheetField label="Date" lines={[formatDay(receipt.issuedAt)]} />
          <SheetField label="Paid by" lines={[methodWords(order)]} />
        </SimpleGrid>
        <Table verticalSpacing="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Description</Table.Th>
              <Table.Th ta="right">Amount in USD</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Line text="Prepaid credit" usd={paidUsd} />
            {taxUsd !== '0' && <Line text="Tax" usd={taxUsd} />}
            {refundedUsd !== '0' && <Line text="Refunded" usd={`-${refundedUsd}`} />}
            {chargedBackUsd !== '0' && <Line text="Charged back" usd={`-${chargedBackUsd}`} />}
            {taxReturnedUsd !== '0' && <Line text="Tax returned" usd={`-${taxReturnedUsd}`} />}
          </Table.Tbody>
        </Table>
        <Group justify="flex-end">
          <Text fw={650} size="lg" component="div">
            Total: <Money usd={totalUsd} />
          </Text>
        </Group>
        {taxUsd !== '0' && order.hasProviderDocument && (
          <Text size="sm" c="dimmed" className="no-print">
            The payment provider's invoice or receipt is on the order's page, and has the details of the tax.
          </Text>
        )}
      </Stack>
    </Box>
  )
}

function Line({ text, usd }: { text: string; usd: string }) {
  return (
    <Table.Tr>
      <Table.Td>{text}</Table.Td>
      <Table.Td ta="right">
        <Money usd={usd} />
      </Table.Td>
    </Table.Tr>
  )
}
