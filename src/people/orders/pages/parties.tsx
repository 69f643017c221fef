/** Seller and customer, at the top of a printed receipt. */
import { SimpleGrid, Text } from '@mantine/core'
import { countryName } from '@/people/members/pages/words'
import type { OrderDetail } from './order-data'

/** Both sides of a sale, side by side. */
export function Parties({ order: { seller, customer } }: { order: OrderDetail }) {
  const country = customer.country === null ? null : countryName(customer.country)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg">
      <SheetField label="From" lines={[seller.name, seller.address, vatLine(seller)]} />
      <SheetField label="To" lines={[customer.name, customer.email, country, vatLine(customer)]} />
    </SimpleGrid>
  )
}

function vatLine({ vatId }: { vatId: string | null }): string | null {
  return vatId === null ? null : `VAT id ${vatId}`
}

/** A labelled text; lines that are null are omitted. */
export function SheetField({ label, lines }: { label: string; lines: readonly (string | null)[] }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {lines.map((line) =>
        line === null ? null : (
          <Text key={line} size="sm" fw={550} className="wrap-anywhere">
            {line}
          </Text>
        ),
      )}
    </div>
  )
}
