/** The management keys' section on the page of keys, for owners and admins. */
import { Anchor, Badge, Box, Button, Group, Select, SimpleGrid, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { confirm } from '@/dashboard/components/confirm'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { withProof } from '@/dashboard/components/step-up'
import { askAgain } from '@/dashboard/query'
import { perform, type ResultOf } from '@/people/client'
import { today } from '@/people/form-values'
import { KEY_FIELDS, KEY_NAME } from '@/people/keys/fields'
import { KeyMaker } from '@/people/keys/pages/key-dialog'
import { ShownOnce } from '@/people/keys/pages/shown-once'

type ManagementKey = ResultOf<'GET /management-keys'>['items'][number]
type Scope = ManagementKey['scopes'][number]

const MANAGEMENT_KEYS = ['management-keys'] as const

/** A management key's scopes by resource. `read`: reading. `write`: reading and changing, if the resource can be changed. */
const RESOURCES = [
  { label: 'API keys', read: 'keys:read', write: 'keys:write' },
  { label: 'Budgets', read: 'budgets:read', write: 'budgets:write' },
  { label: 'Members and invitations', read: 'members:read', write: 'members:write' },
  { label: 'Usage report', read: 'usage:read' },
  { label: 'Orders of credit', read: 'billing:read' },
  { label: 'Audit log', read: 'audit:read' },
] as const satisfies readonly { label: string; read: Scope; write?: Scope }[]

/** Waits for a change, reloads the list, then returns the change's result. */
async function changed<Result>(change: Promise<Result>): Promise<Result> {
  const result = await change
  await askAgain({ queryKey: MANAGEMENT_KEYS })
  return result
}

export function ManagementSection() {
  const keys = useQuery({ queryKey: MANAGEMENT_KEYS, queryFn: () => perform('GET /management-keys', {}) })
  const [isCreating, { open, close }] = useDisclosure()
  return (
    <Section
      title="Management keys"
      description={
        <>
          For programs that manage this account by the{' '}
          <Anchor href="/docs/guide/management" underline="always">
            management API
          </Anchor>
          . They call no models.
        </>
      }
      actions={
        <Button variant="default" onClick={open}>
          Create management key
        </Button>
      }
    >
      <Loaded query={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              No management keys.
            </Text>
          ) : (
            <Rows gap="md">
              {items.map((item) => (
                <KeyRow key={item.id} item={item} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <CreateManagementKey isOpen={isCreating} close={close} />
    </Section>
  )
}

function KeyRow({ item }: { item: ManagementKey }) {
  const { name, prefix, lastFour, scopes, createdBy, isExpired, expiresAt, lastUsedAt } = item
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="sm">
      <Box style={{ flex: '1 1 240px' }}>
        <Text size="sm" fw={600} className="wrap-anywhere">
          {name}{' '}
          <Text span size="sm" ff="monospace" c="dimmed">
            {prefix}…{lastFour}
          </Text>
        </Text>
        <Group gap={6} my={4}>
          {scopes.length === 0 && (
            <Badge variant="default" tt="none">
              No scopes
            </Badge>
          )}
          {scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none">
              {scope}
            </Badge>
          ))}
        </Group>
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          Made by {createdBy.name}
          {!createdBy.isMember && ', who is no member any more'}. Last used:{' '}
          <Moment at={lastUsedAt} isRelative never="never" />
          {expiresAt !== null && (
            <>
              . {isExpired ? 'Expired' : 'Works until'} <Moment at={expiresAt} />
            </>
          )}
        </Text>
      </Box>
      <Button size="xs" variant="default" onClick={() => askToRevoke(item)}>
        Revoke<VisuallyHidden> {name}</VisuallyHidden>
      </Button>
    </Group>
  )
}

function askToRevoke(item: ManagementKey): void {
  confirm({
    title: `Revoke “${item.name}”?`,
    body: 'Programs that use this key are refused from their next request on. This cannot be undone.',
    action: 'Revoke key',
    async run() {
      await changed(perform('DELETE /management-keys/:id', { id: item.id }))
      notifyDone(`“${item.name}” is revoked.`)
    },
  })
}

function CreateManagementKey({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <KeyMaker
      title="Create management key"
      madeTitle="Your new management key"
      isOpen={isOpen}
      close={close}
      form={(onMade) => <CreateForm onCreated={onMade} cancel={close} />}
      made={(key, finish) => <ShownOnce label="Management key" value={key} finish={finish} />}
    />
  )
}

const NOTHING = 'none'
type Fields = { name: string; expiresAt: string; levels: Record<string, string> }

const EMPTY: Fields = {
  name: '',
  expiresAt: '',
  levels: Object.fromEntries(RESOURCES.map(({ read }) => [nameOf(read), NOTHING])),
}

function CreateForm({ onCreated, cancel }: { onCreated(key: string): void; cancel(): void }) {
  const form = useForm<Fields>({
    initialValues: EMPTY,
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const submission = useSubmission(form, async ({ name, expiresAt, levels }) => {
    const scopes = Object.values(levels).filter((level) => level !== NOTHING) as Scope[]
    const end = expiresAt === '' ? null : `${expiresAt}T23:59:59Z`
    const made = withProof(() => perform('POST /management-keys', { name: name.trim(), scopes, expiresAt: end }))
    onCreated((await changed(made)).key)
  })
  return (
    <DialogForm submission={submission} cancel={cancel} action="Create key">
      <TextInput
        label={KEY_NAME.label}
        description={KEY_NAME.help}
        maxLength={KEY_NAME.most}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Text size="sm">It may do nothing but what you choose here, and that in the whole account.</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        {RESOURCES.map((resource) => (
          <Select
            key={resource.read}
            label={resource.label}
            allowDeselect={false}
            data={[
              { value: NOTHING, label: 'Nothing' },
              { value: resource.read, label: 'Read' },
              ...('write' in resource ? [{ value: resource.write, label: 'Read and change' }] : []),
            ]}
            {...form.getInputProps(`levels.${nameOf(resource.read)}`)}
          />
        ))}
      </SimpleGrid>
      <TextInput
        type="date"
        label={KEY_FIELDS.expiresAtMs.label}
        description="Works until the end of this day (UTC); empty: for ever"
        min={today()}
        {...form.getInputProps('expiresAt')}
      />
    </DialogForm>
  )
}

function nameOf(scope: Scope): string {
  return scope.slice(0, scope.indexOf(':'))
}
