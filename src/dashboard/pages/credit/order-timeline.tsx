/** What has happened to an order, in the order in which it happened. */
import { Text, Timeline } from '@mantine/core'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import type { OrderDetail } from './order-data'
import { EVENT_WORDS } from './words'

type Event = OrderDetail['events'][number]

export function OrderTimeline({ order }: { order: OrderDetail }) {
  return (
    <Section title="History">
      <Timeline active={order.events.length} bulletSize={14} lineWidth={2}>
        {order.events.map((event) => (
          <Timeline.Item key={`${event.at} ${event.kind}`} title={<Title event={event} />}>
            {event.by === 'you' && event.note !== null && event.note !== '' && (
              <Text size="sm" className="wrap-anywhere">
                “{event.note}”
              </Text>
            )}
            <Text size="sm" c="dimmed">
              <Moment at={event.at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  )
}

function Title({ event }: { event: Event }) {
  return (
    <Text size="sm" fw={550} component="span">
      {EVENT_WORDS[event.kind]}
      {event.amountUsd !== null && event.kind !== 'payment_unmatched' && (
        <>
          {' '}
          (<Money usd={event.amountUsd} />)
        </>
      )}
    </Text>
  )
}
