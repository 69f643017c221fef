/** The page of the API keys with which programs call the service. */
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useMay } from '@/dashboard/account'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { useLiveEvents } from '@/dashboard/live'
import { ManagementSection } from '@/people/management-keys/pages'
import { CreateKey } from './create-key'
import { keysChanged, useKeys } from './keys-data'
import { KeysTable } from './keys-table'

export function KeysPage() {
  const query = useKeys()
  useLiveEvents(keysChanged)
  const [isCreating, { open, close }] = useDisclosure()
  const may = useMay()
  const mayCreate = may('keys.use')
  const hasKeys = (query.data?.items.length ?? 0) > 0
  const button = (label: string) => (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      {label}
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="One key works with the chat-completions, messages, generate-content and responses formats alike."
      actions={hasKeys && mayCreate && button('Create key')}
    >
      <Section isFlush>
        <Loaded query={query}>
          {({ items, maxKeys }) =>
            items.length === 0 ? (
              <EmptyState icon={IconKey} title="No API keys yet" action={mayCreate && button('Create your first key')}>
                A key lets your programs call every model, paid from your credit.
              </EmptyState>
            ) : (
              <>
                <KeysTable items={items} />
                {items.length >= maxKeys && (
                  <Text size="sm" c="dimmed" p="md">
                    An account has at most {maxKeys} keys. Delete those that are not used any more.
                  </Text>
                )}
              </>
            )
          }
        </Loaded>
      </Section>
      {may('managementKeys.change') && <ManagementSection />}
      <CreateKey isOpen={isCreating} close={close} />
    </Page>
  )
}
