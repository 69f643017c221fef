import { Alert, Box, Button, Group, Stack } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { CopyField } from '@/dashboard/components/fields/copy-field'

type ShownOnceProps = {
  label: string
  value: string
  finish(): void
  /** What else is worth knowing of it. */
  children?: ReactNode
}

/** A secret in the one moment in which it can be seen. It gets the focus, so that it is read out and the keyboard goes on from there. */
export function ShownOnce({ label, value, finish, children }: ShownOnceProps) {
  return (
    <Stack gap="md">
      <Alert ref={takeFocus} tabIndex={-1} color="yellow" icon={<IconInfoCircle size={18} />}>
        Copy the key now and keep it somewhere safe. It is not stored and cannot be shown again.
      </Alert>
      <Box className="surface" p="md">
        <CopyField label={label} value={value} isLabelHidden />
      </Box>
      {children}
      <Group justify="flex-end">
        <Button onClick={finish}>I have copied the key</Button>
      </Group>
    </Stack>
  )
}

/** One function for all times the part is drawn: it is called when the part appears, and when it goes. */
function takeFocus(part: HTMLElement | null): void {
  part?.focus()
}
