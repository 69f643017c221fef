/** The three steps from a new account to a first answer, on the overview. */
import { Box, Button, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import { type Permission, useMay } from '@/dashboard/account'
import { Section } from '@/dashboard/components/section'
import type { Overview } from './overview-data'

type Step = { isDone: boolean; title: string; text: string; path: string; action: string; may: Permission }

export function GettingStarted({ started }: { started: Overview['started'] }) {
  const may = useMay()
  const all: Step[] = [
    {
      isDone: started.hasCredit,
      title: 'Add credit',
      text: 'Requests are paid from prepaid credit. Nothing is charged beyond it.',
      path: '/credit',
      may: 'billing.pay',
      action: 'Add credit',
    },
    {
      isDone: started.hasKey,
      title: 'Create an API key',
      text: 'It is shown once, with a snippet that is ready to run.',
      path: '/keys',
      may: 'keys.use',
      action: 'Create a key',
    },
    {
      isDone: started.hasRequest,
      title: 'Send a first request',
      text: 'With your key, or in the playground without writing any code.',
      path: '/playground',
      may: 'keys.use',
      action: 'Open the playground',
    },
  ]
  const steps = all.filter((step) => may(step.may))
  if (steps.length === 0) return null
  const next = steps.findIndex((step) => !step.isDone)
  const done = steps.filter((step) => step.isDone).length
  return (
    <Section title="Getting started" description={`${done} of ${steps.length} steps done`}>
      <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
        {steps.map((step, index) => (
          <StepRow key={step.path} step={step} number={index + 1} isNext={index === next} />
        ))}
      </Stack>
    </Section>
  )
}

function StepRow({ step, number, isNext }: { step: Step; number: number; isNext: boolean }) {
  return (
    <Group component="li" gap="md" align="center">
      <ThemeIcon variant={step.isDone ? 'light' : 'default'} color="green" radius="xl" size={32}>
        {step.isDone ? <IconCheck size={18} aria-label="Done" /> : <span aria-hidden="true">{number}</span>}
      </ThemeIcon>
      <Box style={{ flex: '1 1 220px' }}>
        <Text fw={600} size="sm">
          {step.title}
        </Text>
        <Text size="sm" c="dimmed">
          {step.text}
        </Text>
      </Box>
      {!step.isDone && (
        <Button component={Link} href={step.path} size="sm" variant={isNext ? 'filled' : 'default'}>
          {step.action}
        </Button>
      )}
    </Group>
  )
}
