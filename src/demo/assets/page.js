const byId = (id) => document.getElementById(id);
const form = byId('choices');
const picture = byId('picture');
const thumbs = [...document.querySelectorAll('[data-view]')];
const chosen = (name) => new FormData(form).get(name);

function showPictures() {
  const colour = chosen('colour');
  for (const thumb of thumbs) {
    const file = `/demo/pictures/harbour-${colour}-${thumb.dataset.view}.svg`;
    thumb.firstElementChild.src = file;
    if (thumb.getAttribute('aria-pressed') !== 'true') continue;
    picture.src = file;
    picture.alt = thumb.getAttribute('aria-label');
  }
}

for (const thumb of thumbs) {
  thumb.addEventListener('click', () => {
    for (const each of thumbs) each.setAttribute('aria-pressed', String(each === thumb));
    showPictures();
  });
}
form.addEventListener('change', showPictures);
// A reload keeps what was chosen, but not the pictures.
showPictures();

let inBag = 0;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  inBag += 1;
  byId('bag-count').textContent = String(inBag);
  const added = byId('added');
  added.textContent = added.dataset.text.replace('{size}', String(chosen('size')));
});

byId('language').addEventListener('change', ({ target }) => {
  location.assign(`/demo/${target.value}`);
});

byId('open-chat').addEventListener('click', () => window.Sluice?.open());

function say(what) {
  const status = byId('identity-status');
  status.textContent = status.dataset[what];
}

byId('identify')?.addEventListener('click', async () => {
  try {
    const answer = await fetch('/demo/identity', { method: 'POST' });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const { jwt } = await answer.json();
    window.Sluice.identify(jwt);
    say('identified');
  } catch {
    say('failed');
  }
});

byId('log-out')?.addEventListener('click', () => {
  window.Sluice?.logout();
  say('loggedOut');
});
