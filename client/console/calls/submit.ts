/** Returns the event handlers of a form that is submitted with its button or with Ctrl+Enter or Cmd+Enter. */
export function submitHandlers(submit: () => void) {
  return {
    onSubmit: (event: Event) => {
      event.preventDefault();
      submit();
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      submit();
    },
  };
}
