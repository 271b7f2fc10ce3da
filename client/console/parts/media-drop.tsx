import { useSignal } from '@preact/signals';
import { type IconNode, ImagePlus } from 'lucide';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface MediaDropProps {
  label: string;
  icon?: IconNode;
  hint: string;
  /** Accepted media types, as in the attribute of a file input: `image/png,image/jpeg`. */
  accept: string;
  /** Schemes of addresses that can be entered, such as `https://…`. Without it only files are accepted. */
  placeholder?: string;
  /** Error of the media. */
  problem?: string | undefined;
  /** Receives a data URL with the name of its file, or the entered address. */
  onAdd: (url: string, name?: string) => void;
}

/** Accepts media that are dropped, pasted, chosen or entered as an address. */
export function MediaDrop({
  label,
  icon = ImagePlus,
  hint,
  accept,
  placeholder,
  problem,
  onAdd,
}: MediaDropProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const isOver = useSignal(false);
  const address = useSignal('');
  const refused = useSignal<string | undefined>(undefined);
  const add = async (files: Iterable<File>) => {
    refused.value = undefined;
    for (const file of files) {
      if (isAccepted(file, accept)) onAdd(await dataUrlOf(file), file.name);
      else refused.value = `${file.name} has a type that is not accepted here.`;
    }
  };
  // The whole page accepts files, so that a missed drop does not open the file instead of the page.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    addEventListener('paste', ({ clipboardData }) => void add(clipboardData?.files ?? []), { signal });
    addEventListener(
      'dragover',
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        isOver.value = true;
      },
      { signal },
    );
    addEventListener('dragleave', ({ relatedTarget }) => (isOver.value = relatedTarget !== null), { signal });
    addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        isOver.value = false;
        void add(event.dataTransfer?.files ?? []);
      },
      { signal },
    );
    return () => controller.abort();
  });
  const enter = () => {
    if (address.value.trim() === '') return;
    onAdd(address.value.trim());
    address.value = '';
  };
  const message = refused.value ?? problem;
  return (
    <div class="field">
      <span class="field-label" id={`${id}-label`}>
        {label}
      </span>
      <button
        type="button"
        class="media-drop"
        data-over={isOver.value}
        aria-labelledby={`${id}-label ${id}-text`}
        onClick={() => input.current?.click()}
      >
        <Icon node={icon} />
        <span id={`${id}-text`}>Drop, paste or choose files</span>
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={accept}
        aria-label={label}
        onChange={(event) => {
          void add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {placeholder && (
        <div class="media-address">
          <input
            class="input"
            type="text"
            aria-label={`${label}: address`}
            placeholder={placeholder}
            value={address.value}
            onInput={(event) => {
              address.value = event.currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
              event.preventDefault();
              enter();
            }}
          />
          <Button onClick={enter} disabled={address.value.trim() === ''}>
            Add
          </Button>
        </div>
      )}
      {message ? (
        <p class="field-error" role="alert">
          {message}
        </p>
      ) : (
        <p class="field-hint">{hint}</p>
      )}
    </div>
  );
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;

const isAccepted = ({ type }: File, accept: string) =>
  accept.split(',').some((pattern) => type.startsWith(pattern.replace('*', '')));

/** Reads a file as a data URL. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string), { once: true });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read.')), {
      once: true,
    });
    reader.readAsDataURL(file);
  });
}
