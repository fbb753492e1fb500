#!/usr/bin/env bash
# The steps of a release, as release.yml runs them:
#   release.sh image      build for PLATFORM, push by digest, with provenance and a list of contents (SBOM); writes build/release/PLATFORM
#   release.sh join       one image of both platforms, tagged with the version and the commit; outputs image and digest
#   release.sh publish    commit DIGEST, tag the version, release, then move vX and vX.Y of git and image
set -euo pipefail

: "${VERSION:?}" "${TOKEN:?}" "${GITHUB_REPOSITORY:?}" "${GITHUB_SHA:?}"
[[ $VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "a version is X.Y.Z, not $VERSION" >&2; exit 1; }
grep -qx "__version__ = \"$VERSION\"" evalaction/__init__.py || { echo "evalaction/__init__.py has another version than $VERSION" >&2; exit 1; }
image=ghcr.io/$(printf '%s' "$GITHUB_REPOSITORY" | tr '[:upper:]' '[:lower:]')
export GH_TOKEN=$TOKEN

log_in() { printf '%s' "$TOKEN" | docker login ghcr.io --username "${GITHUB_ACTOR:?}" --password-stdin; }

build_image() {
  log_in
  mkdir -p build/release
  docker buildx create --use
  docker buildx build --platform "linux/${PLATFORM:?}" --provenance mode=max --sbom true --metadata-file build/release/metadata.json \
    --build-arg "VERSION=$VERSION" --build-arg "REVISION=$GITHUB_SHA" --build-arg "SOURCE=${GITHUB_SERVER_URL:?}/$GITHUB_REPOSITORY" \
    --output "type=image,name=$image,push-by-digest=true,name-canonical=true,push=true" .
  python3 -c 'import json; print(json.load(open("build/release/metadata.json"))["containerimage.digest"])' >"build/release/$PLATFORM"
}

join_images() {
  log_in
  gh run download "${GITHUB_RUN_ID:?}" --pattern 'digest-*' --dir build/digests
  local -a parts=()
  local platform
  for platform in amd64 arm64; do
    parts+=("$image@$(<"build/digests/digest-$platform/$platform")")
  done
  docker buildx imagetools create --tag "$image:v$VERSION" --tag "$image:$GITHUB_SHA" "${parts[@]}"
  printf 'image=%s\ndigest=%s\n' "$image" "$(docker buildx imagetools inspect "$image:v$VERSION" --format '{{.Manifest.Digest}}')" >>"${GITHUB_OUTPUT:?}"
}

publish() {
  local minor=${VERSION%.*} release
  printf '%s\n' "${DIGEST:?}" >action/image-digest
  git add action/image-digest
  git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' commit --quiet -m "Release $VERSION"
  release=$(git rev-parse HEAD)
  gh auth setup-git
  git tag "v$VERSION"
  git push origin "refs/tags/v$VERSION"
  gh release create "v$VERSION" --verify-tag --title "v$VERSION" --notes "See [CHANGELOG.md](${GITHUB_SERVER_URL:?}/$GITHUB_REPOSITORY/blob/v$VERSION/CHANGELOG.md). Image: \`$image@$DIGEST\`. To pin: \`uses: $GITHUB_REPOSITORY@$release # v$VERSION\`"
  git tag --force "v$minor"
  git tag --force "v${minor%.*}"
  git push --force origin "refs/tags/v$minor" "refs/tags/v${minor%.*}"
  log_in
  docker buildx imagetools create --tag "$image:v$minor" --tag "$image:v${minor%.*}" --tag "$image:$release" "$image@$DIGEST"
}

case "${1:-}" in
  image) build_image ;;
  join) join_images ;;
  publish) publish ;;
  *) echo "usage: release.sh image|join|publish" >&2; exit 1 ;;
esac
