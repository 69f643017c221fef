/** A badge with a state's name, coloured by its meaning. */
import { Badge } from '@mantine/core'

export type Tone = 'good' | 'bad' | 'waiting' | 'neutral' | 'info'

const COLORS = { good: 'green', bad: 'red', waiting: 'yellow', neutral: 'gray', info: 'blue' } as const

export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <Badge color={COLORS[tone]} variant="light" radius="sm" tt="none" fw={600} miw="max-content">
      {children}
    </Badge>
  )
}
