// @ts-check
/** Adds a copy button to every `<pre data-copy>`, and exports the function behind it. */

const SHOWN_MS = 1_600;

/**
 * Writes text to the clipboard and shows the result on the button. Outside a secure context the browser offers no clipboard;
 * then the function selects the text, so that one key press copies it.
 * @param {HTMLButtonElement} button
 * @param {() => string} text
 * @param {Element} [shown] the element that shows the text
 */
export async function copyFrom(button, text, shown) {
  // Not disabled while it shows the result: that would take the focus from it.
  button.dataset.label ??= button.textContent ?? '';
  let said = 'Copied';
  try {
    await navigator.clipboard.writeText(text());
  } catch {
    said = 'Could not copy';
    if (shown !== undefined) {
      getSelection()?.selectAllChildren(shown);
      said = 'Selected';
    }
  }
  button.textContent = said;
  setTimeout(() => {
    button.textContent = button.dataset.label ?? '';
  }, SHOWN_MS);
}

for (const block of document.querySelectorAll('pre[data-copy]')) {
  const frame = document.createElement('div');
  frame.className = 'copyable';
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copyFrom(button, () => block.textContent ?? '', block));
  block.replaceWith(frame);
  // A block that scrolls sideways must be reachable by keyboard.
  block.setAttribute('tabindex', '0');
  frame.append(block, button);
}
