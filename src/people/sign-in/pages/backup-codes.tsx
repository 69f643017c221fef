/** Backup codes of an authenticator app, shown once; the person must confirm that they are saved. */
import { Button, Checkbox, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'

export function BackupCodes({ codes, onKept }: { codes: readonly string[]; onKept(): void }) {
  const [isKept, setKept] = useState(false)
  return (
    <Stack gap="md">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Text size="sm">
          Keep these codes where your phone is not. Each opens your account once where the app is lost. They are not
          shown again.
        </Text>
        <CopyIcon label="Backup codes" value={codes.join('\n')} />
      </Group>
      <SimpleGrid component="ul" cols={2} spacing="xs" className="surface" p="md" m={0} style={{ listStyle: 'none' }}>
        {codes.map((code) => (
          <Text key={code} component="li" ff="monospace" size="sm">
            {code}
          </Text>
        ))}
      </SimpleGrid>
      <Checkbox
        label="I have kept the codes"
        checked={isKept}
        onChange={(event) => setKept(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isKept} onClick={onKept}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
