/** Images that go along with a message of the playground: chosen or pasted, shown small, and taken away again. */
import { ActionIcon, CloseButton, FileButton, Group, Image, Indicator, Tooltip } from '@mantine/core'
import { IconPhotoPlus } from '@tabler/icons-react'

/** What every model that takes images can read. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const MAX_IMAGES = 8
/** All of a message together: as text they are a third longer, and a request has room for 20 MB unless the operator says otherwise. */
const MAX_BYTES = 10 * 1024 * 1024

/** Those of `files` that can be sent, as data URLs beside `known`; or why they can't. */
export async function readImages(files: readonly File[], known: readonly string[]): Promise<string[] | string> {
  const wrong = files.find(({ type }) => !IMAGE_TYPES.includes(type))
  if (wrong) return `${wrong.name} is no PNG, JPEG, WebP or GIF.`
  if (known.length + files.length > MAX_IMAGES) return `A message can have ${MAX_IMAGES} images.`
  const knownBytes = known.reduce((sum, url) => sum + url.length * 0.75, 0)
  if (files.reduce((sum, { size }) => sum + size, knownBytes) > MAX_BYTES) return 'The images are larger than 10 MB.'
  return await Promise.all(files.map(readDataUrl))
}

/** The images of what is pasted. */
export function pastedImages(data: DataTransfer): File[] {
  return [...data.files].filter(({ type }) => IMAGE_TYPES.includes(type))
}

/** The button that chooses images. */
export function AttachButton({ attach }: { attach(files: File[]): void }) {
  return (
    <FileButton accept={IMAGE_TYPES.join(',')} multiple onChange={attach}>
      {(props) => (
        <Tooltip label="Attach images">
          <ActionIcon {...props} variant="default" size="lg" aria-label="Attach images">
            <IconPhotoPlus size={18} />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  )
}

/** The images of a message; `remove` where it is not sent yet. */
export function Thumbnails({ images, remove }: { images: readonly string[]; remove?: (index: number) => void }) {
  if (images.length === 0) return null
  return (
    <Group gap="xs" my="xs">
      {images.map((url, index) => (
        <Indicator
          key={url}
          disabled={!remove}
          size={20}
          color="gray"
          label={
            remove && <CloseButton size={16} aria-label={`Remove image ${index + 1}`} onClick={() => remove(index)} />
          }
        >
          <Image src={url} alt={`Attached ${index + 1}`} h={64} w="auto" maw={160} radius="sm" fit="contain" />
        </Indicator>
      ))}
    </Group>
  )
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error))
    reader.readAsDataURL(file)
  })
}
