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
  /** Receives a data URL or the entered address. */
  onAdd: (url: string) => void;
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
  const add = async (files: Iterable<File>) => {
    for (const file of files) if (isAccepted(file, accept)) onAdd(await dataUrlOf(file));
  };
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => void add(clipboardData?.files ?? []);
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  });
  const enter = () => {
    if (address.value.trim() === '') return;
    onAdd(address.value.trim());
    address.value = '';
  };
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
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = true;
        }}
        onDragLeave={() => {
          isOver.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          isOver.value = false;
          void add(event.dataTransfer?.files ?? []);
        }}
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
      {problem ? (
        <p class="field-error" role="alert">
          {problem}
        </p>
      ) : (
        <p class="field-hint">{hint}</p>
      )}
    </div>
  );
}

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
