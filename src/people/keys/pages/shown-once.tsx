import { Alert, Box, Button, Group, Stack } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { CopyField } from '@/dashboard/components/fields/copy-field'

type ShownOnceProps = {
  label: string
  value: string
  finish(): void
  /** Further information below the secret. */
  children?: ReactNode
}

/** Shows a secret once, with the focus, so that screen readers read it and the keyboard continues there. */
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

/** Always the same function, so that React calls it only when the element appears or disappears. */
function takeFocus(part: HTMLElement | null): void {
  part?.focus()
}
