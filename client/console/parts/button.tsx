import { type IconNode, LoaderCircle } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconNode;
  /** Accessible name of a button without text. */
  label?: string;
  variant?: 'default' | 'primary' | 'danger' | 'plain';
  small?: boolean;
  submit?: boolean;
  disabled?: boolean;
  /** Shows a spinner and ignores clicks. */
  busy?: boolean;
  pressed?: boolean;
  onClick?: (event: MouseEvent) => void;
}

export function Button({ children, icon, label, variant = 'default', small, ...props }: ButtonProps) {
  const { submit, disabled, busy, pressed, onClick } = props;
  const classes = ['button', `button-${variant}`, small && 'button-small', !children && 'button-icon'];
  return (
    <button
      type={submit ? 'submit' : 'button'}
      class={classes.filter(Boolean).join(' ')}
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      aria-busy={busy}
      disabled={disabled || busy}
      onClick={onClick}
    >
      {busy ? <Icon node={LoaderCircle} className="spinner" /> : icon && <Icon node={icon} />}
      {children}
    </button>
  );
}

/** A small button that shows an icon only. `label` is its accessible name. */
export function IconButton(props: Required<Pick<ButtonProps, 'icon' | 'label' | 'onClick'>>) {
  return <Button small variant="plain" {...props} />;
}
