// Generated from the API description by scripts/client-types.ts.

/** The codes of errors. */
export type ErrorCode =
  /** Internal error. */
  | 5000
  /** Temporarily unavailable. */
  | 5001
  /** Malformed request. */
  | 5100
  /** `namespace` is missing. */
  | 5101
  /** Validation failed. */
  | 5102
  /** Unsupported media type. */
  | 5103
  /** The body is too large. */
  | 5104
  /** Method not allowed. */
  | 5105
  /** Route not found. */
  | 5106
  /** Too many requests. */
  | 5107
  /** Invalid app credential params. */
  | 5202
  /** App authentication failed. */
  | 5203
  /** Invalid token params. */
  | 5204
  /** Token not found or mismatch. */
  | 5205
  /** Authentication failed: no method succeeded. */
  | 5206
  /** The token is expired or revoked. */
  | 5207
  /** Too many authentication attempts from this address. */
  | 5209
  /** A two-factor code is required. */
  | 5211
  /** Invalid email, password or one-time code. */
  | 5212
  /** Too many attempts. */
  | 5213
  /** The user token is invalid, expired or revoked. */
  | 5214
  /** Store not found. */
  | 5215
  /** The code is invalid, used or expired. */
  | 5216
  /** The password is too weak. */
  | 5217
  /** Not permitted. */
  | 5300
  /** Not found. */
  | 5301
  /** The request conflicts with an existing record. */
  | 5302
  /** The record has changed since you read it. */
  | 5303
  /** Out of stock. */
  | 5304
  /** Not enough points. */
  | 5305
  /** The record's current state does not allow this. */
  | 5306
  /** This idempotency key was used for another request. */
  | 5307
  /** The store does not deliver to this address. */
  | 5308
  /** The discount code does not apply. */
  | 5309;

/** The names of errors, one for each code. */
export type ErrorType =
  | "internal_error"
  | "unavailable"
  | "malformed_request"
  | "namespace_missing"
  | "validation_failed"
  | "unsupported_media_type"
  | "body_too_large"
  | "method_not_allowed"
  | "route_not_found"
  | "too_many_requests"
  | "invalid_app_credentials"
  | "app_auth_failed"
  | "invalid_token_params"
  | "token_not_found"
  | "not_authenticated"
  | "token_expired"
  | "too_many_auth_attempts"
  | "two_factor_required"
  | "invalid_login"
  | "too_many_attempts"
  | "user_token_invalid"
  | "store_not_found"
  | "reset_code_invalid"
  | "weak_password"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "precondition_failed"
  | "out_of_stock"
  | "not_enough_points"
  | "wrong_state"
  | "idempotency_key_reused"
  | "not_delivered"
  | "discount_refused";

export interface paths {
    "/categories/": {
        parameters: {
        };
        /**
         * List categories
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["listCategories"];
        /**
         * Create a category
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        post: operations["createCategory"];
    };
    "/categories/{id}/": {
        parameters: {
        };
        /**
         * Get a category
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["getCategory"];
        /**
         * Delete a category that has no products and no subcategories
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        delete: operations["deleteCategory"];
        /**
         * Change some fields of a category
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        patch: operations["patchCategory"];
    };
    "/discounts/": {
        parameters: {
        };
        /**
         * List discount codes
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        get: operations["listDiscounts"];
        /**
         * Create a discount code
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        post: operations["createDiscount"];
    };
    "/discounts/{id}/": {
        parameters: {
        };
        /**
         * Get a discount code
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        get: operations["getDiscount"];
    };
    "/discounts/{id}/end/": {
        parameters: {
        };
        /**
         * End a discount code now
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        post: operations["endDiscount"];
    };
    "/events/": {
        parameters: {
        };
        /**
         * Read the change feed, oldest first
         * @description Allowed callers: app keys with `events:read`.
         */
        get: operations["listEvents"];
    };
    "/mail/templates/": {
        parameters: {
        };
        /**
         * List the texts of mails in a language, by default the store's
         * @description Allowed callers: staff and owners.
         */
        get: operations["listMailTemplates"];
        /**
         * Replace the texts of a kind of mail in a language; owners only
         * @description Allowed callers: staff and owners.
         */
        put: operations["setMailTemplate"];
    };
    "/media/": {
        parameters: {
        };
        /**
         * Upload a picture
         * @description Allowed callers: app keys with `media:write`, staff and owners.
         */
        post: operations["uploadMedia"];
    };
    "/media/{id}/{file}": {
        parameters: {
        };
        /**
         * Get a picture
         * @description Allowed callers: anyone.
         */
        get: operations["getMedia"];
    };
    "/orders/": {
        parameters: {
        };
        /**
         * List orders
         * @description Allowed callers: app keys with `orders:read`, signed-in users.
         */
        get: operations["listOrders"];
        /**
         * Create an order
         * @description Allowed callers: app keys with `orders:write`, app keys with `orders:place`, signed-in users.
         */
        post: operations["createOrder"];
    };
    "/orders/withdrawals/": {
        parameters: {
        };
        /**
         * List the consumers' withdrawals from contracts
         * @description Allowed callers: app keys with `orders:read`, staff and owners.
         */
        get: operations["listWithdrawals"];
        /**
         * Record that a consumer withdraws from a contract; the reply does not tell whether the order exists
         * @description Allowed callers: app keys with `orders:place`.
         */
        post: operations["recordWithdrawal"];
    };
    "/orders/{id}/": {
        parameters: {
        };
        /**
         * Get an order; guests send its `X-Order-Token`
         * @description Allowed callers: app keys with `orders:read`, app keys with `orders:place`, signed-in users.
         */
        get: operations["getOrder"];
        /**
         * Correct contact, addresses and notes of an order
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        patch: operations["correctOrder"];
    };
    "/orders/{id}/fulfill/": {
        parameters: {
        };
        /**
         * Mark the rest of a paid order as sent
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["fulfillOrder"];
    };
    "/orders/{id}/fulfillments/": {
        parameters: {
        };
        /**
         * Record a parcel of a paid order
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["createFulfillment"];
    };
    "/orders/{id}/fulfillments/{fulfillment_id}/": {
        parameters: {
        };
        /**
         * Delete a parcel that was recorded within a day
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        delete: operations["deleteFulfillment"];
        /**
         * Change the tracking of a parcel
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        patch: operations["updateFulfillment"];
    };
    "/orders/{id}/attention/": {
        parameters: {
        };
        /**
         * Record what was decided about an order
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["resolveAttention"];
    };
    "/orders/access/": {
        parameters: {
        };
        /**
         * Mail a guest a new link to an order; the reply does not tell whether the order exists
         * @description Allowed callers: app keys with `orders:place`.
         */
        post: operations["mailOrderLink"];
    };
    "/auth/password/forgot/": {
        parameters: {
        };
        /**
         * Request a password reset code by mail
         * @description Allowed callers: anyone.
         */
        post: operations["forgotPassword"];
    };
    "/auth/password/reset/": {
        parameters: {
        };
        /**
         * Set a new password with a reset code
         * @description Allowed callers: anyone.
         */
        post: operations["resetPassword"];
    };
    "/users/invite/": {
        parameters: {
        };
        /**
         * Create a user, or find one without a password, and mail a code to set the first password
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        post: operations["inviteUser"];
    };
    "/orders/{id}/checkout/": {
        parameters: {
        };
        /**
         * Open a payment page for an order, or get the one that is open
         * @description Allowed callers: app keys with `orders:write`, app keys with `orders:place`, signed-in users.
         */
        post: operations["openCheckout"];
    };
    "/orders/{id}/checkout/check/": {
        parameters: {
        };
        /**
         * Read the payment of an order at the provider, at most once in five seconds for visitors
         * @description Allowed callers: app keys with `orders:write`, app keys with `orders:place`, signed-in users.
         */
        post: operations["checkPayment"];
    };
    "/orders/{id}/cancel/": {
        parameters: {
        };
        /**
         * Cancel a pending order
         * @description Allowed callers: app keys with `orders:write`, app keys with `orders:place`, signed-in users.
         */
        post: operations["cancelOrder"];
    };
    "/orders/{id}/pay/": {
        parameters: {
        };
        /**
         * Book a payment of an order
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["payOrder"];
    };
    "/orders/{id}/refund/": {
        parameters: {
        };
        /**
         * Refund an order, or some of it
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["refundOrder"];
    };
    "/orders/{id}/refund/{refund_id}/retry/": {
        parameters: {
        };
        /**
         * Request a failed refund again
         * @description Allowed callers: app keys with `orders:write`, staff and owners.
         */
        post: operations["retryRefund"];
    };
    "/payments/stripe/": {
        parameters: {
        };
        /**
         * Receive a signed call of Stripe
         * @description Allowed callers: anyone.
         */
        post: operations["receiveStripeEvent"];
    };
    "/orders/{id}/invoice/": {
        parameters: {
        };
        /**
         * Get the invoice and the credit notes of a paid order, and issue those that are missing
         * @description Allowed callers: app keys with `orders:write`, app keys with `orders:place`, signed-in users.
         */
        post: operations["issueInvoices"];
    };
    "/users/me/export/": {
        parameters: {
        };
        /**
         * Get everything that is stored about the signed-in user
         * @description Allowed callers: signed-in users.
         */
        get: operations["exportOwnData"];
    };
    "/users/me/erase/": {
        parameters: {
        };
        /**
         * Erase the signed-in user
         * @description Allowed callers: signed-in users.
         */
        post: operations["eraseOwnAccount"];
    };
    "/users/{id}/export/": {
        parameters: {
        };
        /**
         * Get everything that is stored about a user
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        get: operations["exportUserData"];
    };
    "/users/{id}/erase/": {
        parameters: {
        };
        /**
         * Erase a user
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        post: operations["eraseUser"];
    };
    "/products/": {
        parameters: {
        };
        /**
         * List products
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["listProducts"];
        /**
         * Create a product
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        post: operations["createProduct"];
    };
    "/products/{id}/": {
        parameters: {
        };
        /**
         * Get a product
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["getProduct"];
        /**
         * Replace a product
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        put: operations["replaceProduct"];
        /**
         * Delete a product
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        delete: operations["deleteProduct"];
        /**
         * Change some fields of a product
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        patch: operations["patchProduct"];
    };
    "/users/me/": {
        parameters: {
        };
        /**
         * Get the signed-in user
         * @description Allowed callers: signed-in users.
         */
        get: operations["getOwnProfile"];
        /**
         * Update the signed-in user
         * @description Allowed callers: signed-in users.
         */
        patch: operations["patchOwnProfile"];
    };
    "/users/me/email/verify/": {
        parameters: {
        };
        /**
         * Verify the signed-in user's email with the mailed code
         * @description Allowed callers: signed-in users.
         */
        post: operations["verifyOwnEmail"];
    };
    "/users/me/email/resend/": {
        parameters: {
        };
        /**
         * Mail another code for the signed-in user's email
         * @description Allowed callers: signed-in users.
         */
        post: operations["resendEmailCode"];
    };
    "/likes/": {
        parameters: {
        };
        /**
         * Get the likes of resources, or list the caller's own
         * @description Allowed callers: anyone.
         */
        get: operations["getLikes"];
        /**
         * Like a resource
         * @description Allowed callers: anyone.
         */
        post: operations["addLike"];
        /**
         * Remove a like
         * @description Allowed callers: anyone.
         */
        delete: operations["removeLike"];
    };
    "/bookmarks/": {
        parameters: {
        };
        /**
         * Get the bookmarks of resources, or list the caller's own
         * @description Allowed callers: anyone.
         */
        get: operations["getBookmarks"];
        /**
         * Bookmark a resource
         * @description Allowed callers: anyone.
         */
        post: operations["addBookmark"];
        /**
         * Remove a bookmark
         * @description Allowed callers: anyone.
         */
        delete: operations["removeBookmark"];
    };
    "/notifications/register/": {
        parameters: {
        };
        /**
         * Get the Web Push key and the supported platforms
         * @description Allowed callers: anyone.
         */
        get: operations["getPushOffer"];
        /**
         * Register a browser or device, or renew its registration
         * @description Allowed callers: anyone.
         */
        post: operations["registerDevice"];
    };
    "/notifications/register/{id}/": {
        parameters: {
        };
        /**
         * Remove a registration
         * @description Allowed callers: anyone.
         */
        delete: operations["removeRegistration"];
        /**
         * Change a registration's topics, language, endpoint or token
         * @description Allowed callers: anyone.
         */
        patch: operations["changeRegistration"];
    };
    "/users/me/devices/": {
        parameters: {
        };
        /**
         * List the devices of the signed-in user
         * @description Allowed callers: signed-in users.
         */
        get: operations["listOwnDevices"];
    };
    "/users/me/devices/{id}/": {
        parameters: {
        };
        /**
         * Remove a device of the signed-in user
         * @description Allowed callers: signed-in users.
         */
        delete: operations["removeOwnDevice"];
    };
    "/notifications/send/": {
        parameters: {
        };
        /**
         * Send a notification
         * @description Allowed callers: app keys with `notifications:write`, staff and owners.
         */
        post: operations["sendNotification"];
    };
    "/notifications/messages/": {
        parameters: {
        };
        /**
         * List the notifications that the store has sent
         * @description Allowed callers: app keys with `notifications:write`, staff and owners.
         */
        get: operations["listNotifications"];
    };
    "/notifications/messages/{id}/": {
        parameters: {
        };
        /**
         * Get a notification and the states of its deliveries
         * @description Allowed callers: app keys with `notifications:write`, staff and owners.
         */
        get: operations["getNotification"];
    };
    "/reports/sales/": {
        parameters: {
        };
        /**
         * Add up what was sold and returned, by day, week or month
         * @description Allowed callers: app keys with `orders:read`, staff and owners.
         */
        get: operations["reportSales"];
    };
    "/todo/": {
        parameters: {
        };
        /**
         * List what the store has to do; of each kind, the oldest first
         * @description Allowed callers: staff and owners.
         */
        get: operations["listTodo"];
    };
    "/rewards/": {
        parameters: {
        };
        /**
         * Get a user's points
         * @description Allowed callers: app keys with `rewards:read`, signed-in users.
         */
        get: operations["getRewards"];
    };
    "/rewards/history/": {
        parameters: {
        };
        /**
         * List the entries of a user's account
         * @description Allowed callers: app keys with `rewards:read`, signed-in users.
         */
        get: operations["listRewardEntries"];
    };
    "/rewards/redeem/": {
        parameters: {
        };
        /**
         * Spend points
         * @description Allowed callers: app keys with `rewards:write`, signed-in users.
         */
        post: operations["redeemPoints"];
    };
    "/rewards/adjust/": {
        parameters: {
        };
        /**
         * Add or subtract points of a user
         * @description Allowed callers: app keys with `rewards:write`, staff and owners.
         */
        post: operations["adjustRewards"];
    };
    "/auth/code/": {
        parameters: {
        };
        /**
         * Mail a customer a code to log in with
         * @description Allowed callers: app keys with `customers:sign-up`.
         */
        post: operations["requestLoginCode"];
    };
    "/auth/login/": {
        parameters: {
        };
        /**
         * Log in with email and password, or with a mailed code
         * @description Allowed callers: anyone.
         */
        post: operations["login"];
    };
    "/auth/refresh/": {
        parameters: {
        };
        /**
         * Exchange a token for a new one
         * @description Allowed callers: the user whose token it is.
         */
        post: operations["refreshToken"];
    };
    "/auth/logout/": {
        parameters: {
        };
        /**
         * Log out and revoke the token
         * @description Allowed callers: the user whose token it is.
         */
        post: operations["logout"];
    };
    "/users/me/password/": {
        parameters: {
        };
        /**
         * Change the password of the signed-in user
         * @description Allowed callers: signed-in users.
         */
        post: operations["changeOwnPassword"];
    };
    "/shipping/rates/": {
        parameters: {
        };
        /**
         * List the shipping rates of the store, or those that apply to an address and goods
         * @description Allowed callers: app keys, signed-in users.
         */
        get: operations["listShippingRates"];
        /**
         * Replace the shipping rates of the store
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        put: operations["replaceShippingRates"];
    };
    "/users/sign-up/": {
        parameters: {
        };
        /**
         * Sign a customer up
         * @description Allowed callers: app keys with `customers:sign-up`.
         */
        post: operations["signUp"];
    };
    "/users/verify/": {
        parameters: {
        };
        /**
         * Verify a sign-up with the mailed code
         * @description Allowed callers: app keys with `customers:sign-up`.
         */
        post: operations["verifySignUp"];
    };
    "/users/verify/resend/": {
        parameters: {
        };
        /**
         * Mail another code for a sign-up
         * @description Allowed callers: app keys with `customers:sign-up`.
         */
        post: operations["resendSignUpCode"];
    };
    "/store/": {
        parameters: {
        };
        /**
         * Get the store
         * @description Allowed callers: app keys, signed-in users.
         */
        get: operations["getStore"];
    };
    "/taxes/rates/": {
        parameters: {
        };
        /**
         * List the tax rates of the store
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        get: operations["listTaxRates"];
        /**
         * Replace the tax rates of the store
         * @description Allowed callers: app keys with `settings:write`, staff and owners.
         */
        put: operations["replaceTaxRates"];
    };
    "/users/me/two-factor/": {
        parameters: {
        };
        /**
         * Get the state of two-factor authentication
         * @description Allowed callers: signed-in users.
         */
        get: operations["getTwoFactor"];
        /**
         * Begin to enable two-factor authentication
         * @description Allowed callers: signed-in users.
         */
        post: operations["beginTwoFactor"];
    };
    "/users/me/two-factor/confirm/": {
        parameters: {
        };
        /**
         * Enable two-factor authentication with a first code
         * @description Allowed callers: signed-in users.
         */
        post: operations["confirmTwoFactor"];
    };
    "/users/me/two-factor/disable/": {
        parameters: {
        };
        /**
         * Disable two-factor authentication
         * @description Allowed callers: signed-in users.
         */
        post: operations["disableTwoFactor"];
    };
    "/users/me/two-factor/recovery-codes/": {
        parameters: {
        };
        /**
         * Replace the recovery codes
         * @description Allowed callers: signed-in users.
         */
        post: operations["renewRecoveryCodes"];
    };
    "/users/": {
        parameters: {
        };
        /**
         * List users
         * @description Allowed callers: app keys with `users:read`, staff and owners.
         */
        get: operations["listUsers"];
        /**
         * Create or import a user
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        post: operations["createUser"];
    };
    "/users/{id}/": {
        parameters: {
        };
        /**
         * Get a user
         * @description Allowed callers: app keys with `users:read`, staff and owners.
         */
        get: operations["getUser"];
        /**
         * Delete a user
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        delete: operations["deleteUser"];
        /**
         * Update a user
         * @description Allowed callers: app keys with `users:write`, staff and owners.
         */
        patch: operations["patchUser"];
    };
    "/products/{id}/variants/": {
        parameters: {
        };
        /**
         * List a product's variants
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["listVariants"];
        /**
         * Add a variant
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        post: operations["addVariant"];
    };
    "/products/{id}/variants/{variant_id}/": {
        parameters: {
        };
        /**
         * Get a variant
         * @description Allowed callers: app keys with `products:read`, app keys with `catalog:read`, signed-in users.
         */
        get: operations["getVariant"];
        /**
         * Delete a variant
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        delete: operations["deleteVariant"];
        /**
         * Change some fields of a variant
         * @description Allowed callers: app keys with `products:write`, staff and owners.
         */
        patch: operations["patchVariant"];
    };
    "/views/": {
        parameters: {
        };
        /**
         * Get the views of resources, of one also by day
         * @description Allowed callers: anyone.
         */
        get: operations["getViews"];
        /**
         * Count a view, once per viewer and day
         * @description Allowed callers: anyone.
         */
        post: operations["recordView"];
    };
    "/wishlist/": {
        parameters: {
        };
        /**
         * List a user's wishlist
         * @description Allowed callers: app keys with `wishlist:read`, signed-in users.
         */
        get: operations["listWishlist"];
        /**
         * Add a product to a wishlist
         * @description Allowed callers: app keys with `wishlist:write`, signed-in users.
         */
        post: operations["addToWishlist"];
    };
    "/wishlist/{product_id}/": {
        parameters: {
        };
        /**
         * Get a product on a wishlist
         * @description Allowed callers: app keys with `wishlist:read`, signed-in users.
         */
        get: operations["getWishlistItem"];
        /**
         * Set the variant and note of a product on a wishlist
         * @description Allowed callers: app keys with `wishlist:write`, signed-in users.
         */
        put: operations["putOnWishlist"];
        /**
         * Remove a product from a wishlist
         * @description Allowed callers: app keys with `wishlist:write`, signed-in users.
         */
        delete: operations["removeFromWishlist"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        FieldError: {
            /** @description Path of the invalid field, such as `images.0.url`. */
            field: string;
            message: string;
            /** @description In a conflict: the id of the other record. */
            id?: string;
        };
        ErrorBody: {
            /**
             * Format: int64
             * @description Numeric code of the error; it never changes. Later versions may have further codes.
             * @enum {integer}
             */
            code: 5000 | 5001 | 5100 | 5101 | 5102 | 5103 | 5104 | 5105 | 5106 | 5107 | 5202 | 5203 | 5204 | 5205 | 5206 | 5207 | 5209 | 5211 | 5212 | 5213 | 5214 | 5215 | 5216 | 5217 | 5300 | 5301 | 5302 | 5303 | 5304 | 5305 | 5306 | 5307 | 5308 | 5309;
            /** @description Name of the error, one for each code, such as `out_of_stock`. */
            type: string;
            /** @description Description of the error for people. Its text may change. */
            message: string;
            /** @description How to correct the request, or when to repeat it. */
            remedy?: string;
            /** @description The invalid fields. */
            details?: components["schemas"]["FieldError"][];
        };
        Error: {
            /** @description Id of the request, also in the server's log. Quote it in bug reports. */
            request_id: string;
            error: components["schemas"]["ErrorBody"];
        };
        Page: {
            /** @description Send it as `cursor` for the next page. */
            next_cursor: string | null;
            /** @description Whether there is a next page. */
            has_more: boolean;
            /**
             * Format: int64
             * @description Maximum number of records on this page.
             */
            limit: number;
            /**
             * Format: int64
             * @description Number of records on all pages; with `include_total=true`.
             */
            total?: number;
            /**
             * Format: int64
             * @description Sent instead of `total` if counting ended early.
             */
            total_is_at_least?: number;
            /** @description The number of products with each value, if `facets` is sent. At most 100 tags, categories and options, most frequent first. */
            facets?: {
                tags?: {
                    values: {
                        value: string;
                        /** Format: int64 */
                        count: number;
                    }[];
                    /** @description False if there are more products than were counted. */
                    is_complete: boolean;
                };
                categories?: {
                    values: {
                        id: string;
                        slug: string;
                        title: string;
                        /** Format: int64 */
                        count: number;
                    }[];
                    /** @description False if there are more products than were counted. */
                    is_complete: boolean;
                };
                options?: {
                    values: {
                        name: string;
                        value: string;
                        /** Format: int64 */
                        count: number;
                    }[];
                    /** @description False if there are more products than were counted. */
                    is_complete: boolean;
                };
                price?: {
                    values: {
                        /** Format: double */
                        gte: number;
                        /** Format: double */
                        lt: number;
                        /** Format: int64 */
                        count: number;
                    }[];
                    /** @description False if there are more products than were counted. */
                    is_complete: boolean;
                };
            };
        };
        Translation: {
            title?: string;
            description?: string;
        };
        Category: {
            /** @description `cat_…` */
            id: string;
            /** @description Id of the parent category; a write also accepts its slug. Null for a top category. At most 8 levels. */
            parent_id: string | null;
            /** @description Unique in the store. Default: made from the title. */
            slug: string;
            title: string;
            description: string | null;
            /**
             * Format: int64
             * @description Position among the categories with the same parent. Default: last.
             */
            position: number;
            /**
             * @description Customers and storefront keys see a category only if the category and all its ancestors are published.
             * @default true
             */
            published: boolean;
            /** @description Texts in languages other than `lang`, by language code; at most 50 languages. */
            translations: {
                [key: string]: components["schemas"]["Translation"];
            };
            /** @description Language of the title. The reply with one category also has it as `Content-Language`. */
            lang: string;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CategoryListReply: {
            request_id: string;
            data: components["schemas"]["Category"][];
            page: components["schemas"]["Page"];
        };
        CategoryReply: {
            request_id: string;
            data: components["schemas"]["Category"];
        };
        CategoryInput: {
            /** @description Id of the parent category; a write also accepts its slug. Null for a top category. At most 8 levels. */
            parent_id?: string | null;
            /** @description Unique in the store. Default: made from the title. */
            slug?: string;
            title: string;
            description?: string | null;
            /**
             * Format: int64
             * @description Position among the categories with the same parent. Default: last.
             */
            position?: number;
            /**
             * @description Customers and storefront keys see a category only if the category and all its ancestors are published.
             * @default true
             */
            published: boolean;
            /** @description Texts in languages other than `lang`, by language code; at most 50 languages. */
            translations?: {
                [key: string]: components["schemas"]["Translation"];
            };
        };
        TranslationPatch: {
            title?: string | null;
            description?: string | null;
        };
        CategoryPatch: {
            /** @description Id of the parent category; a write also accepts its slug. Null for a top category. At most 8 levels. */
            parent_id?: string | null;
            /** @description Unique in the store. Default: made from the title. */
            slug?: string;
            title?: string;
            description?: string | null;
            /**
             * Format: int64
             * @description Position among the categories with the same parent. Default: last.
             */
            position?: number;
            /**
             * @description Customers and storefront keys see a category only if the category and all its ancestors are published.
             * @default true
             */
            published: boolean;
            /** @description Merged with existing translations; at most 50 languages. Null removes a text or a language. */
            translations?: {
                [key: string]: components["schemas"]["TranslationPatch"] | null;
            };
        };
        DeletedCategory: {
            id: string;
            deleted: boolean;
        };
        DeletedCategoryReply: {
            request_id: string;
            data: components["schemas"]["DeletedCategory"];
        };
        Discount: {
            /** @description `dsc_…`; sorts by creation time. */
            id: string;
            code: string;
            /** Format: double */
            percent: number | null;
            /** Format: double */
            amount: number | null;
            /** Format: int64 */
            amount_minor: number | null;
            free_shipping: boolean;
            /** Format: double */
            minimum: number | null;
            /** Format: int64 */
            minimum_minor: number | null;
            product_ids: string[];
            category_ids: string[];
            /** Format: date-time */
            from: string | null;
            /** Format: date-time */
            until: string | null;
            /** Format: int64 */
            limit: number | null;
            /** Format: int64 */
            per_customer: number | null;
            /**
             * Format: int64
             * @description Number of orders that use the code. Expired and cancelled orders do not count.
             */
            uses: number;
            /** Format: date-time */
            created_at: string;
        };
        DiscountListReply: {
            request_id: string;
            data: components["schemas"]["Discount"][];
            page: components["schemas"]["Page"];
        };
        DiscountReply: {
            request_id: string;
            data: components["schemas"]["Discount"];
        };
        DiscountInput: {
            /** @description Unique in the store, ignoring case. */
            code: string;
            /**
             * Format: double
             * @description Percentage of the eligible goods.
             */
            percent?: number | null;
            /**
             * Format: double
             * @description Amount off the eligible goods, at most their value.
             */
            amount?: number | null;
            /** @description Whether shipping costs nothing. */
            free_shipping?: boolean;
            /**
             * Format: double
             * @description The lowest value of all goods before the discount.
             */
            minimum?: number | null;
            /** @description Only these products, and those of `category_ids`. If both are empty, all products. */
            product_ids?: string[];
            /** @description Only products of these categories and of those below them. */
            category_ids?: string[];
            /** Format: date-time */
            from?: string | null;
            /** Format: date-time */
            until?: string | null;
            /**
             * Format: int64
             * @description Maximum number of uses.
             */
            limit?: number | null;
            /**
             * Format: int64
             * @description Maximum number of uses per customer or email address.
             */
            per_customer?: number | null;
        };
        Event: {
            /** @description Unique in the store. A repeated webhook delivery has the same id. */
            id: string;
            /** @enum {string} */
            type: "product.created" | "product.updated" | "product.deleted" | "stock.changed" | "category.created" | "category.updated" | "category.deleted" | "order.created" | "order.updated" | "order.paid" | "order.shipped" | "order.fulfilled" | "order.cancelled" | "order.expired" | "order.refunded" | "order.disputed" | "user.created" | "user.updated" | "user.deleted";
            /** @description Id of the record that changed. */
            subject: string;
            /** @description A summary of the change, without personal data. */
            data: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
        };
        EventListReply: {
            request_id: string;
            data: components["schemas"]["Event"][];
            page: components["schemas"]["Page"];
        };
        MailTemplate: {
            /** @enum {string} */
            kind: "reset_code" | "login_code" | "invitation" | "sign_up_code" | "account_exists" | "email_code" | "email_change_requested" | "password_changed" | "email_changed" | "two_factor_changed" | "order_placed" | "order_paid" | "order_shipped" | "order_refunded" | "order_cancelled" | "order_expired" | "order_link" | "withdrawal_received" | "new_order" | "needs_attention" | "low_stock" | "server_alert";
            /** @enum {string} */
            language: "ar" | "de" | "en" | "es" | "fr" | "pt" | "zh";
            subject: string;
            heading: string | null;
            paragraphs: string[];
            is_own: boolean;
            placeholders: string[];
        };
        MailTemplateListReply: {
            request_id: string;
            data: components["schemas"]["MailTemplate"][];
        };
        MailTemplateReply: {
            request_id: string;
            data: components["schemas"]["MailTemplate"];
        };
        MailTemplateInput: {
            /** @enum {string} */
            kind: "reset_code" | "login_code" | "invitation" | "sign_up_code" | "account_exists" | "email_code" | "email_change_requested" | "password_changed" | "email_changed" | "two_factor_changed" | "order_placed" | "order_paid" | "order_shipped" | "order_refunded" | "order_cancelled" | "order_expired" | "order_link" | "withdrawal_received" | "new_order" | "needs_attention" | "low_stock" | "server_alert";
            /** @enum {string} */
            language: "ar" | "de" | "en" | "es" | "fr" | "pt" | "zh";
            subject: string;
            heading: string | null;
            paragraphs: string[];
            /** @description Read-only: ignored. */
            is_own?: unknown;
            /** @description Read-only: ignored. */
            placeholders?: unknown;
        };
        Media: {
            /** @description `med_…`, the `media_id` of a picture of a product or variant. */
            id: string;
            /** @description Address of the picture, or its path on a server without a public URL. It needs no credentials. For another width, replace `original` by 320, 640, 1280 or 2560. */
            url: string;
            /** Format: int64 */
            width: number;
            /** Format: int64 */
            height: number;
            /**
             * Format: int64
             * @description Size of the stored picture, which counts towards the quota.
             */
            bytes: number;
            /** Format: date-time */
            created_at: string;
        };
        MediaReply: {
            request_id: string;
            data: components["schemas"]["Media"];
        };
        MediaUpload: {
            /** Format: binary */
            file: string;
        };
        OrderLine: {
            /** @description `line_…` */
            id: string;
            /** @description `prod_…` */
            product_id: string;
            /** @description `var_…` */
            variant_id: string | null;
            /** @description Title in the order's language. Lines keep the product's data from the time of the order. */
            title: string;
            variant_title: string | null;
            sku: string | null;
            options: {
                [key: string]: string;
            };
            image: string | null;
            /** Format: double */
            price: number;
            /** Format: int64 */
            price_minor: number;
            /** Format: int64 */
            quantity: number;
            /** Format: double */
            subtotal: number;
            /** Format: int64 */
            subtotal_minor: number;
            /** Format: double */
            discount: number;
            /** Format: int64 */
            discount_minor: number;
            /** Format: double */
            tax: number;
            /** Format: int64 */
            tax_minor: number;
            /** Format: double */
            total: number;
            /** Format: int64 */
            total_minor: number;
            tax_class: string;
            requires_shipping: boolean;
            /** Format: int64 */
            weight_g: number | null;
            /** Format: int64 */
            fulfilled_quantity: number;
            /**
             * Format: int64
             * @description Pieces that were refunded before they were sent.
             */
            cancelled_quantity: number;
            /** Format: int64 */
            refunded_quantity: number;
            /** Format: double */
            refunded: number;
            /** Format: int64 */
            refunded_minor: number;
            /** Format: int64 */
            restocked_quantity: number;
        };
        TaxLine: {
            class: string;
            /**
             * Format: double
             * @description In percent.
             */
            rate: number;
            /** Format: double */
            base: number;
            /** Format: int64 */
            base_minor: number;
            /** Format: double */
            tax: number;
            /** Format: int64 */
            tax_minor: number;
        };
        OrderShippingRate: {
            id: string;
            name: string;
        };
        ShippingAddress: {
            name?: string;
            company?: string;
            line1: string;
            line2?: string;
            city: string;
            region?: string;
            postal_code?: string;
            /** @description ISO 3166-1 alpha-2, in capitals. */
            country: string;
            phone?: string;
            /** @description The company's VAT id. */
            vat_id?: string;
        };
        Dispute: {
            /** @description The provider's. */
            id: string;
            /** @description The provider's: `warning_…`, `needs_response`, `under_review`, `lost`, `won`. */
            status: string;
            /** Format: double */
            amount: number;
            /** Format: int64 */
            amount_minor: number;
            reason: string;
            /** Format: date-time */
            due_at: string | null;
            /** Format: date-time */
            created_at: string;
        };
        LinePieces: {
            /** @description `line_…` */
            line_id: string;
            /** Format: int64 */
            quantity: number;
        };
        Withdrawal: {
            /** @description `wdr_…` */
            id: string;
            /** @description `ord_…`; null if no order has both the number and the email. */
            order_id: string | null;
            /** Format: int64 */
            number: number;
            email: string;
            name: string;
            /** @description Null for the whole order. */
            lines: components["schemas"]["LinePieces"][] | null;
            text: string | null;
            /** Format: date-time */
            created_at: string;
        };
        OrderPayment: {
            /** @description `pay_…` */
            id: string;
            /** @enum {string} */
            provider: "manual" | "stripe";
            reference: string | null;
            /** Format: double */
            amount: number;
            /** Format: int64 */
            amount_minor: number;
            /** Format: date-time */
            received_at: string;
        };
        RefundLine: {
            /** @description `line_…` */
            line_id: string;
            /** Format: int64 */
            quantity: number;
            /** Format: double */
            amount: number;
            /** Format: int64 */
            amount_minor: number;
            restock: boolean;
        };
        OrderRefund: {
            /** @description `ref_…` */
            id: string;
            /** @enum {string} */
            state: "requested" | "pending" | "succeeded" | "failed";
            /** Format: double */
            amount: number;
            /** Format: int64 */
            amount_minor: number;
            /** Format: double */
            shipping: number;
            /** Format: int64 */
            shipping_minor: number;
            lines: components["schemas"]["RefundLine"][];
            reason: string | null;
            /** Format: int64 */
            points_returned: number;
            /** Format: int64 */
            points_reversed: number;
            /** @description Why it failed. Staff and keys of backends only. */
            error?: string | null;
            /** Format: date-time */
            created_at: string;
        };
        FulfillmentTracking: {
            carrier: string | null;
            number: string | null;
            url: string | null;
        };
        Fulfillment: {
            /** @description `ful_…` */
            id: string;
            lines: components["schemas"]["LinePieces"][];
            tracking: components["schemas"]["FulfillmentTracking"] | null;
            /** Format: date-time */
            created_at: string;
        };
        ShippingOffer: {
            id: string;
            /** @description In the language of the request, if the store has it. */
            name: string;
            zone: string;
            /** Format: double */
            price: number;
            /** Format: int64 */
            price_minor: number;
        };
        Order: {
            /** @description `ord_…`; sorts by creation time. */
            id: string;
            /**
             * Format: int64
             * @description Number in the store, without gaps; null for a dry run.
             */
            number: number | null;
            /** @description `usr_…`; null for a guest. */
            user_id: string | null;
            /**
             * @description pending → paid → completed; pending → cancelled or expired; paid → cancelled by a full refund.
             * @enum {string}
             */
            status: "pending" | "paid" | "completed" | "cancelled" | "expired";
            /** @enum {string} */
            payment_status: "unpaid" | "partially_paid" | "paid" | "partially_refunded" | "refunded" | "payment_processing";
            /** @enum {string} */
            fulfillment_status: "unfulfilled" | "partially_fulfilled" | "fulfilled";
            /** @description ISO 4217. */
            currency: string;
            items: components["schemas"]["OrderLine"][];
            /** Format: double */
            subtotal: number;
            /** Format: int64 */
            subtotal_minor: number;
            /** Format: double */
            discount: number;
            /** Format: int64 */
            discount_minor: number;
            /** Format: double */
            shipping: number;
            /** Format: int64 */
            shipping_minor: number;
            /** Format: double */
            shipping_tax: number;
            /** Format: int64 */
            shipping_tax_minor: number;
            /** Format: double */
            tax: number;
            /** Format: int64 */
            tax_minor: number;
            /**
             * Format: double
             * @description subtotal − discount + shipping, and + tax unless prices include it.
             */
            total: number;
            /** Format: int64 */
            total_minor: number;
            /** Format: double */
            received: number;
            /** Format: int64 */
            received_minor: number;
            /** Format: double */
            refunded: number;
            /** Format: int64 */
            refunded_minor: number;
            /** Format: double */
            returned: number;
            /** Format: int64 */
            returned_minor: number;
            /** Format: double */
            due: number;
            /** Format: int64 */
            due_minor: number;
            prices_include_tax: boolean;
            tax_lines: components["schemas"]["TaxLine"][];
            shipping_rate: components["schemas"]["OrderShippingRate"] | null;
            discount_code: string | null;
            /** Format: int64 */
            points_used: number;
            /** Format: int64 */
            points_earned: number;
            /**
             * Format: int64
             * @description Used points that were returned to the customer.
             */
            points_returned: number;
            /**
             * Format: int64
             * @description Earned points that refunds took back.
             */
            points_reversed: number;
            /**
             * @description `manual` is a bank transfer. The order then reserves stock longer.
             * @enum {string|null}
             */
            payment_method: "manual" | "stripe" | null;
            /** @description The reference that the buyer puts on a bank transfer (`RF…`, ISO 11649); null for other methods. */
            transfer_reference: string | null;
            /** @description The reference of the first payment. */
            payment_reference: string | null;
            email: string | null;
            phone: string | null;
            shipping_address: components["schemas"]["ShippingAddress"] | null;
            billing_address: components["schemas"]["ShippingAddress"] | null;
            note: string | null;
            /** @description Staff and keys of backends only. */
            staff_note?: string | null;
            /** @description Staff and keys of backends only. */
            needs_attention?: ("late_payment" | "partial_payment" | "overpaid" | "amount_mismatch" | "refund_failed" | "refund_unassigned" | "dispute" | "withdrawal")[];
            /** @description Staff and keys of backends only. */
            disputes?: components["schemas"]["Dispute"][];
            /** @description Staff and keys of backends only. */
            withdrawals?: components["schemas"]["Withdrawal"][];
            /** @description Any JSON object of at most 16 KiB. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description Language of the titles of the lines. */
            lang: string;
            payments: components["schemas"]["OrderPayment"][];
            refunds: components["schemas"]["OrderRefund"][];
            fulfillments: components["schemas"]["Fulfillment"][];
            /** @description The rates that apply, in a dry run without `shipping_rate`. */
            shipping_rates?: components["schemas"]["ShippingOffer"][];
            /** @description Only in the reply to a guest's new order. Send it as `X-Order-Token` to read the order. */
            access_token?: string;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: date-time
             * @description Time at which the order expires unless it is paid.
             */
            expires_at: string;
            /** Format: date-time */
            paid_at: string | null;
            /** Format: date-time */
            fulfilled_at: string | null;
            /** Format: date-time */
            cancelled_at: string | null;
        };
        OrderListReply: {
            request_id: string;
            data: components["schemas"]["Order"][];
            page: components["schemas"]["Page"];
        };
        WithdrawalListReply: {
            request_id: string;
            data: components["schemas"]["Withdrawal"][];
            page: components["schemas"]["Page"];
        };
        OrderReply: {
            request_id: string;
            data: components["schemas"]["Order"];
        };
        OrderItem: {
            /** @description Id of a product without variants. */
            product_id?: string;
            /** @description Id of a variant. Products with variants are ordered by variant. */
            variant_id?: string;
            /** Format: int64 */
            quantity: number;
        };
        OrderInput: {
            items: components["schemas"]["OrderItem"][];
            /**
             * Format: email
             * @description Web pages must send it for guests. Default: the customer's.
             */
            email?: string | null;
            phone?: string | null;
            shipping_address?: components["schemas"]["ShippingAddress"] | null;
            billing_address?: components["schemas"]["ShippingAddress"] | null;
            note?: string | null;
            /** @description Any JSON object of at most 16 KiB. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Id of a rate that applies. Required if goods are shipped and the store has rates. */
            shipping_rate?: string | null;
            discount_code?: string | null;
            /**
             * @description `manual` is a bank transfer. The order then reserves stock longer.
             * @enum {string|null}
             */
            payment_method?: "manual" | "stripe" | null;
            /**
             * Format: double
             * @description The total that the buyer saw. If it differs, nothing is ordered.
             */
            expected_total?: number;
            /**
             * Format: int64
             * @description Seconds for which the unpaid order reserves stock. App keys and staff only.
             */
            expires_in?: number;
            /**
             * Format: int64
             * @description Reward points to pay with.
             */
            use_points?: number;
            /**
             * Format: double
             * @description Shipping costs. App keys and staff only.
             */
            shipping?: number;
            /**
             * Format: double
             * @description Divided among the lines. App keys and staff only.
             */
            tax?: number;
            /** @description Id of the customer, for app keys and staff. Default: a guest. */
            customer_id?: string;
            /** @description IP address of the guest, for limits of orders and of discount codes. For app keys of backends. */
            guest_ip?: string;
        };
        OrderPatch: {
            /** Format: email */
            email?: string | null;
            phone?: string | null;
            shipping_address?: components["schemas"]["ShippingAddress"] | null;
            billing_address?: components["schemas"]["ShippingAddress"] | null;
            note?: string | null;
            staff_note?: string | null;
            /** @description Any JSON object of at most 16 KiB. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        FulfillmentLineInput: {
            line_id: string;
            /** Format: int64 */
            quantity: number;
        };
        Tracking: {
            /** @description For DHL, DPD, GLS, Hermes, UPS, FedEx, USPS, Royal Mail, La Poste and PostNL, the `url` is added. */
            carrier?: string | null;
            number?: string | null;
            /** @description Address of a page that shows the parcel. */
            url?: string | null;
        };
        FulfillmentInput: {
            /** @description Default: all pieces that were not sent yet. */
            lines?: components["schemas"]["FulfillmentLineInput"][];
            tracking?: components["schemas"]["Tracking"] | null;
        };
        TrackingInput: {
            tracking: components["schemas"]["Tracking"] | null;
        };
        AttentionInput: {
            /** @enum {string} */
            kind: "late_payment" | "partial_payment" | "overpaid" | "amount_mismatch" | "refund_failed" | "refund_unassigned" | "dispute" | "withdrawal";
            /** @enum {string} */
            action: "accept" | "dismiss";
            note?: string | null;
        };
        Accepted: {
            accepted: boolean;
        };
        AcceptedReply: {
            request_id: string;
            data: components["schemas"]["Accepted"];
        };
        AccessInput: {
            /** Format: int64 */
            number: number;
            /** Format: email */
            email: string;
        };
        WithdrawalLineInput: {
            line_id: string;
            /** Format: int64 */
            quantity: number;
        };
        WithdrawalInput: {
            /** Format: int64 */
            number: number;
            /** Format: email */
            email: string;
            name: string;
            /** @description Default: the whole order. */
            lines?: components["schemas"]["WithdrawalLineInput"][];
            text?: string | null;
        };
        ForgotPassword: {
            email: string;
            /** @description Language of the mail, as a BCP 47 tag. Default: the user's language. */
            language?: string;
        };
        ResetPasswordReply: {
            password_changed: boolean;
        };
        ResetPasswordReplyReply: {
            request_id: string;
            data: components["schemas"]["ResetPasswordReply"];
        };
        ResetPassword: {
            email: string;
            /** @description The six digits from the mail, as a string, because they may begin with zeros. */
            code: string;
            /** @description At least 16 characters with lowercase, uppercase, digit and special character; not a common password. */
            password: string;
        };
        Address: {
            name?: string;
            company?: string;
            line1: string;
            line2?: string;
            city: string;
            region?: string;
            postal_code?: string;
            /** @description ISO 3166-1 alpha-2, in capitals. */
            country: string;
            phone?: string;
            /** @description The company's VAT id. */
            vat_id?: string;
            /** @description At most one address is the default. */
            is_default?: boolean;
        };
        User: {
            /** @description `usr_…`; sorts by creation time. */
            id: string;
            /**
             * Format: email
             * @description Unique in the store, ignoring case.
             */
            email: string;
            /** @description Replaces `email` once the user enters the code that was mailed to it. */
            pending_email: string | null;
            /** @description Language of the user's mail (BCP 47). Null for the store's language. */
            lang: string | null;
            name: string | null;
            phone: string | null;
            addresses: components["schemas"]["Address"][];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * @description Staff manage the store's records; owners also manage staff.
             * @enum {string}
             */
            role: "customer" | "staff" | "owner";
            /**
             * @description A disabled user cannot log in; their token is revoked at once.
             * @enum {string}
             */
            status: "active" | "disabled";
            /** @description Whether the user has proved that the email address is theirs. */
            email_verified: boolean;
            two_factor_enabled: boolean;
            /** Format: date-time */
            last_login_at: string | null;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        UserReply: {
            request_id: string;
            data: components["schemas"]["User"];
        };
        Invitation: {
            /**
             * Format: email
             * @description Unique in the store, ignoring case.
             */
            email: string;
            name?: string | null;
            phone?: string | null;
            /**
             * @description Staff manage the store's records; owners also manage staff.
             * @enum {string}
             */
            role?: "customer" | "staff" | "owner";
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
        };
        Checkout: {
            /** @description `chk_…` */
            id: string;
            /** @enum {string} */
            provider: "stripe";
            /** @enum {string} */
            state: "open" | "processing" | "complete" | "expired" | "failed";
            /** @description The provider's page, to which the buyer goes. */
            url: string;
            /** Format: double */
            amount: number;
            /** Format: int64 */
            amount_minor: number;
            /** @description ISO 4217. */
            currency: string;
            /** Format: date-time */
            expires_at: string;
        };
        CheckoutReply: {
            request_id: string;
            data: components["schemas"]["Checkout"];
        };
        CheckoutInput: {
            /** @description Where the buyer goes after the payment. At an origin of one of the store's keys. */
            success_url: string;
            /** @description Where the buyer goes after leaving the payment page. At an origin of one of the store's keys. */
            cancel_url: string;
        };
        PaymentInput: {
            /**
             * Format: double
             * @description Default: what is due.
             */
            amount?: number;
            /** @description Id of the payment, unique in the store. Repeating it does not book the payment again. */
            reference?: string;
            /** @description The old name of `reference`. */
            payment_reference?: string;
            /** @description When the money was received: a time or a day. Default: now. */
            received_at?: string;
        };
        RefundLineInput: {
            line_id: string;
            /** Format: int64 */
            quantity: number;
            /** @description Whether these pieces were sent and came back. Default: they were not sent. */
            returned?: boolean;
        };
        RefundInput: {
            lines?: components["schemas"]["RefundLineInput"][];
            /**
             * Format: double
             * @description The part of shipping to refund, including its tax.
             */
            shipping?: number;
            /**
             * Format: double
             * @description Further amount. Without lines, shipping and amount, refunds everything not refunded yet.
             */
            amount?: number;
            /**
             * @description Whether the refunded items return to stock.
             * @default false
             */
            restock: boolean;
            reason?: string | null;
        };
        WebhookReceived: {
            received: boolean;
        };
        WebhookReceivedReply: {
            request_id: string;
            data: components["schemas"]["WebhookReceived"];
        };
        Invoice: {
            /**
             * Format: int64
             * @description In the store, without gaps. Credit notes use the same series.
             */
            number: number;
            /** @enum {string} */
            kind: "invoice" | "credit_note";
            order_id: string;
            /** @description ISO 4217. */
            currency: string;
            /**
             * Format: double
             * @description On a credit note, the amount that is credited.
             */
            total: number;
            /** Format: int64 */
            total_minor: number;
            /** @description The page for print, as it was issued. It loads nothing from elsewhere. Null after its erasure. */
            html: string | null;
            /** Format: date-time */
            issued_at: string;
        };
        InvoiceListReply: {
            request_id: string;
            data: components["schemas"]["Invoice"][];
        };
        PersonalData: {
            user: components["schemas"]["User"];
            /** @description Tokens, without their secrets. */
            sessions: {
                [key: string]: unknown;
            }[];
            /** @description Devices that receive notifications. */
            devices: {
                [key: string]: unknown;
            }[];
            /** @description Orders with their refunds, as `GET /orders/` returns them. */
            orders: {
                [key: string]: unknown;
            }[];
            /** @description How long orders name their buyer. */
            retention: string;
            /** @description Entries of the points ledger. */
            rewards: {
                [key: string]: unknown;
            }[];
            /** @description Products on the wishlist. */
            wishlist: {
                [key: string]: unknown;
            }[];
            /** @description Likes and bookmarks. */
            reactions: {
                [key: string]: unknown;
            }[];
            /** @description Withdrawals from contracts that name the user's email. */
            withdrawals: {
                [key: string]: unknown;
            }[];
            /** @description Waiting mail to the user's email, and mail of the last 30 days, without contents. */
            mail: {
                [key: string]: unknown;
            }[];
            /** @description Entries of the audit log about the user or caused by the user, without the user's own exports. */
            audit: {
                [key: string]: unknown;
            }[];
        };
        PersonalDataReply: {
            request_id: string;
            data: components["schemas"]["PersonalData"];
        };
        Erased: {
            erased: boolean;
        };
        ErasedReply: {
            request_id: string;
            data: components["schemas"]["Erased"];
        };
        Erasure: {
            /** @description Current password of the user. */
            password: string;
            /** @description Six digits from the authenticator, or a recovery code. Required, and not empty, if two-factor authentication is enabled. */
            otp?: string;
        };
        Image: {
            /** @description `med_…` of an uploaded picture. */
            media_id?: string;
            /** @description Address of the picture. If the server has no public URL, an uploaded picture has only a path. For another width, replace `original`. */
            url: string;
            /** @description Text for people who cannot see the picture. */
            alt: string;
            /** Format: int64 */
            position: number;
            /**
             * Format: int64
             * @description Width of an uploaded picture, in pixels.
             */
            width?: number;
            /** Format: int64 */
            height?: number;
        };
        Variant: {
            /** @description `var_…` */
            id: string;
            /** @description Default: made from the options, such as `M / Red`. */
            title: string;
            /** @description Unique in the store. */
            sku: string | null;
            /**
             * Format: int64
             * @description Stock on hand; a product has the sum of its variants. Null if not counted. Not shown to customers and storefront keys.
             */
            stock?: number | null;
            /** @description Such as `{"size": "M"}`. No two variants of a product may have the same options. */
            options: {
                [key: string]: string;
            };
            /**
             * Format: double
             * @description The variant's own price, or the product's.
             */
            price: number;
            /**
             * Format: double
             * @description The former price. It requires the variant's own `price`.
             */
            compare_at_price: number | null;
            /**
             * Format: int64
             * @description Grams of one piece. Null for the product's weight.
             */
            weight_g: number | null;
            images: components["schemas"]["Image"][];
            /**
             * Format: int64
             * @description Place among the variants. Default: last.
             */
            position: number;
            /**
             * Format: int64
             * @description The price in minor units of `currency`.
             */
            price_minor: number;
            /**
             * Format: int64
             * @description Stock minus what unpaid orders reserve; null if not counted. Customers and storefront keys see at most 10.
             */
            available: number | null;
            /** @description ISO 4217. */
            currency: string;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`. For customers and storefront keys, a sale changes `version` and `updated_at` only if it changes `available`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description False if `price` and `compare_at_price` are the product's. */
            has_own_price: boolean;
        };
        Product: {
            /** @description `prod_…`; sorts by creation time. */
            id: string;
            title: string;
            /** @description Unique in the store. Default: made from the title. */
            slug: string;
            description: string | null;
            /**
             * @description Customers and storefront keys see published products only.
             * @enum {string}
             */
            status: "draft" | "published" | "archived";
            /**
             * Format: double
             * @description Amount in the store's currency, with at most as many decimals as the currency has.
             */
            price: number;
            /**
             * Format: double
             * @description The former price, in the same form as `price`.
             */
            compare_at_price: number | null;
            /** @description Unique in the store. */
            sku: string | null;
            /**
             * Format: int64
             * @description Stock on hand; a product has the sum of its variants. Null if not counted. Not shown to customers and storefront keys.
             */
            stock?: number | null;
            /** @description Whether more than the stock can be ordered. */
            allow_backorder: boolean;
            /**
             * Format: int64
             * @description Grams of one piece.
             */
            weight_g: number | null;
            /** @description Whether the product is shipped. Default: true. */
            requires_shipping: boolean;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class: string;
            images: components["schemas"]["Image"][];
            /** @description No tag may be repeated. */
            tags: string[];
            /** @description A write also accepts slugs. */
            category_ids: string[];
            /** @description The store's own data. Customers and storefront keys see its member `public` only. */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description The price in minor units of `currency`.
             */
            price_minor: number;
            /**
             * Format: int64
             * @description Stock minus what unpaid orders reserve; null if not counted. Customers and storefront keys see at most 10.
             */
            available: number | null;
            /** @description ISO 4217. */
            currency: string;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`. For customers and storefront keys, a sale changes `version` and `updated_at` only if it changes `available`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description The texts in languages other than `lang`. */
            translations: {
                [key: string]: components["schemas"]["Translation"];
            };
            variants: components["schemas"]["Variant"][];
            /** Format: int64 */
            likes_count: number;
            /** Format: int64 */
            views_count: number;
            /** @description Language of the title; also sent as `Content-Language`. */
            lang: string;
            /** Format: date-time */
            published_at: string | null;
        };
        ProductListReply: {
            request_id: string;
            data: components["schemas"]["Product"][];
            page: components["schemas"]["Page"];
        };
        ProductReply: {
            request_id: string;
            data: components["schemas"]["Product"];
        };
        ImageInput: {
            /** @description `med_…` of an uploaded picture. */
            media_id?: string;
            /** @description An http or https address. Ignored if `media_id` is sent. */
            url?: string;
            /** @description Text for people who cannot see the picture. */
            alt?: string;
            /**
             * Format: int64
             * @description Position among the pictures. Default: the position in the list.
             */
            position?: number;
            /**
             * Format: int64
             * @description Ignored. Accepted because replies have this field.
             */
            width?: number;
            /**
             * Format: int64
             * @description Ignored.
             */
            height?: number;
        };
        VariantInput: {
            /** @description Default: made from the options, such as `M / Red`. */
            title?: string;
            /** @description Unique in the store. */
            sku?: string | null;
            /**
             * Format: int64
             * @description Null if stock is not counted.
             */
            stock?: number | null;
            /** @description Such as `{"size": "M"}`. No two variants of a product may have the same options. */
            options?: {
                [key: string]: string;
            };
            /**
             * Format: double
             * @description The variant's own price. Null, the default, means the product's price.
             */
            price?: number | null;
            /**
             * Format: double
             * @description The former price. It requires the variant's own `price`.
             */
            compare_at_price?: number | null;
            /**
             * Format: int64
             * @description Grams of one piece. Null for the product's weight.
             */
            weight_g?: number | null;
            images?: components["schemas"]["ImageInput"][];
            /**
             * Format: int64
             * @description Place among the variants. Default: last.
             */
            position?: number;
        };
        ProductInput: {
            title: string;
            /** @description Unique in the store. Default: made from the title. */
            slug?: string;
            description?: string | null;
            /**
             * @description Customers and storefront keys see published products only.
             * @enum {string}
             */
            status?: "draft" | "published" | "archived";
            /**
             * Format: double
             * @description Amount in the store's currency, with at most as many decimals as the currency has.
             */
            price: number;
            /**
             * Format: double
             * @description The former price, in the same form as `price`.
             */
            compare_at_price?: number | null;
            /** @description Unique in the store. */
            sku?: string | null;
            /**
             * Format: int64
             * @description Null if stock is not counted.
             */
            stock?: number | null;
            /** @description Whether more than the stock can be ordered. */
            allow_backorder?: boolean;
            /**
             * Format: int64
             * @description Grams of one piece.
             */
            weight_g?: number | null;
            /** @description Whether the product is shipped. Default: true. */
            requires_shipping?: boolean;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class?: string;
            images?: components["schemas"]["ImageInput"][];
            /** @description No tag may be repeated. */
            tags?: string[];
            /** @description A write also accepts slugs. */
            category_ids?: string[];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Texts in languages other than `lang`, by language code; at most 50 languages. */
            translations?: {
                [key: string]: components["schemas"]["Translation"];
            };
            /** @description Such as sizes. */
            variants?: components["schemas"]["VariantInput"][];
        };
        ProductReplacement: {
            /** @description Read-only: ignored. */
            id?: unknown;
            title: string;
            /** @description Unique in the store. Default: made from the title. */
            slug?: string;
            description?: string | null;
            /**
             * @description Customers and storefront keys see published products only.
             * @enum {string}
             */
            status?: "draft" | "published" | "archived";
            /**
             * Format: double
             * @description Amount in the store's currency, with at most as many decimals as the currency has.
             */
            price: number;
            /**
             * Format: double
             * @description The former price, in the same form as `price`.
             */
            compare_at_price?: number | null;
            /** @description Unique in the store. */
            sku?: string | null;
            /**
             * Format: int64
             * @description Null if stock is not counted.
             */
            stock?: number | null;
            /** @description Whether more than the stock can be ordered. */
            allow_backorder?: boolean;
            /**
             * Format: int64
             * @description Grams of one piece.
             */
            weight_g?: number | null;
            /** @description Whether the product is shipped. Default: true. */
            requires_shipping?: boolean;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class?: string;
            images?: components["schemas"]["ImageInput"][];
            /** @description No tag may be repeated. */
            tags?: string[];
            /** @description A write also accepts slugs. */
            category_ids?: string[];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Read-only: ignored. */
            price_minor?: unknown;
            /** @description Read-only: ignored. */
            available?: unknown;
            /** @description Read-only: ignored. */
            currency?: unknown;
            /** @description Read-only: ignored. */
            version?: unknown;
            /** @description Read-only: ignored. */
            created_at?: unknown;
            /** @description Read-only: ignored. */
            updated_at?: unknown;
            /** @description Texts in languages other than `lang`, by language code; at most 50 languages. */
            translations?: {
                [key: string]: components["schemas"]["Translation"];
            };
            /** @description Read-only: ignored. */
            variants?: unknown;
            /** @description Read-only: ignored. */
            likes_count?: unknown;
            /** @description Read-only: ignored. */
            views_count?: unknown;
            /** @description Read-only: ignored. */
            lang?: unknown;
            /** @description Read-only: ignored. */
            published_at?: unknown;
        };
        ProductPatch: {
            title?: string;
            /** @description Unique in the store. Default: made from the title. */
            slug?: string;
            description?: string | null;
            /**
             * @description Customers and storefront keys see published products only.
             * @enum {string}
             */
            status?: "draft" | "published" | "archived";
            /**
             * Format: double
             * @description Amount in the store's currency, with at most as many decimals as the currency has.
             */
            price?: number;
            /**
             * Format: double
             * @description The former price, in the same form as `price`.
             */
            compare_at_price?: number | null;
            /** @description Unique in the store. */
            sku?: string | null;
            /**
             * Format: int64
             * @description Null if stock is not counted.
             */
            stock?: number | null;
            /** @description Whether more than the stock can be ordered. */
            allow_backorder?: boolean;
            /**
             * Format: int64
             * @description Grams of one piece.
             */
            weight_g?: number | null;
            /** @description Whether the product is shipped. Default: true. */
            requires_shipping?: boolean;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class?: string;
            images?: components["schemas"]["ImageInput"][];
            /** @description No tag may be repeated. */
            tags?: string[];
            /** @description A write also accepts slugs. */
            category_ids?: string[];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Merged with existing translations; at most 50 languages. Null removes a text or a language. */
            translations?: {
                [key: string]: components["schemas"]["TranslationPatch"] | null;
            };
        };
        DeletedProduct: {
            id: string;
            deleted: boolean;
        };
        DeletedProductReply: {
            request_id: string;
            data: components["schemas"]["DeletedProduct"];
        };
        ProfilePatch: {
            name?: string | null;
            phone?: string | null;
            addresses?: components["schemas"]["Address"][];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description Unique in the store, ignoring case.
             */
            email?: string;
            password?: string;
        };
        EmailCode: {
            /** @description The six digits from the mail, as a string, because they may begin with zeros. */
            code: string;
        };
        Reaction: {
            /** @description `product`, or a type that the store declared. */
            resource_type: string;
            /** @description Id of the resource, such as `prod_…`. */
            resource_id: string;
            /** Format: date-time */
            created_at: string;
        };
        ReactionListReply: {
            request_id: string;
            data: components["schemas"]["Reaction"][];
            page: components["schemas"]["Page"];
        };
        ReactionState: {
            /** @description Whether the caller likes the resource or has bookmarked it. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of users and visitors who like or have bookmarked it.
             */
            count: number;
        };
        ReactionStateReply: {
            request_id: string;
            data: components["schemas"]["ReactionState"];
        };
        ResourceReactionState: {
            /** @description Id of the resource, such as `prod_…`. */
            resource_id: string;
            /** @description Whether the caller likes the resource or has bookmarked it. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of users and visitors who like or have bookmarked it.
             */
            count: number;
        };
        ResourceReactionStateListReply: {
            request_id: string;
            data: components["schemas"]["ResourceReactionState"][];
        };
        GetLikesReply: components["schemas"]["ReactionListReply"] | components["schemas"]["ReactionStateReply"] | components["schemas"]["ResourceReactionStateListReply"];
        AddedReaction: {
            /** @description Whether the caller likes the resource or has bookmarked it. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of users and visitors who like or have bookmarked it.
             */
            count: number;
            /** @description Token of a new visitor, returned only once. */
            visitor?: string;
        };
        AddedReactionReply: {
            request_id: string;
            data: components["schemas"]["AddedReaction"];
        };
        ReactionInput: {
            /** @description `product`, or a type that the store declared. */
            resource_type: string;
            /** @description Id of the resource, such as `prod_…`. */
            resource_id: string;
            /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
            visitor?: string;
        };
        VisitorInput: {
            /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
            visitor?: string;
        };
        GetBookmarksReply: components["schemas"]["ReactionListReply"] | components["schemas"]["ReactionStateReply"] | components["schemas"]["ResourceReactionStateListReply"];
        PushOffer: {
            /** @description The `applicationServerKey` with which browsers subscribe. */
            vapid_public_key: string;
            platforms: {
                /** @enum {string} */
                platform: "web" | "ios" | "android";
                /**
                 * @description `off` while the server is not configured to send to the platform.
                 * @enum {string}
                 */
                delivery: "on" | "off";
            }[];
        };
        PushOfferReply: {
            request_id: string;
            data: components["schemas"]["PushOffer"];
        };
        CreatedRegistration: {
            /** @description `reg_…` */
            id: string;
            /** @enum {string} */
            platform: "web" | "ios" | "android";
            /** @description Language of its notifications, as a BCP 47 tag. */
            lang: string;
            /** @description In alphabetical order. */
            topics: string[];
            /** @description User who was signed in at the registration. The device receives notifications about their orders. */
            user_id: string | null;
            /**
             * @description `off` while the server is not configured to send to the platform.
             * @enum {string}
             */
            delivery: "on" | "off";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Required to change or remove it. Returned only once. */
            management_secret: string;
        };
        CreatedRegistrationReply: {
            request_id: string;
            data: components["schemas"]["CreatedRegistration"];
        };
        /** @description For `web`: the result of `PushSubscription.toJSON()`. */
        PushSubscription: {
            /** @description An https address on the public internet, with port 443 or 8443. */
            endpoint: string;
            /**
             * Format: double
             * @description As browsers send it; ignored.
             */
            expirationTime?: number | null;
            keys: {
                /** @description Public key of curve P-256: 65 bytes in base64url. */
                p256dh: string;
                /** @description 16 bytes in base64url. */
                auth: string;
            };
        };
        RegistrationInput: {
            /** @enum {string} */
            platform: "web" | "ios" | "android";
            subscription?: components["schemas"]["PushSubscription"];
            /** @description For `ios` and `android`: the device's token from APNs or FCM. */
            token?: string;
            /** @description Topics of the notifications to receive in addition to those about the user's orders. */
            topics?: string[];
            /** @description Required if the endpoint is registered with other keys: the secret of that registration. */
            management_secret?: string;
        };
        Registration: {
            /** @description `reg_…` */
            id: string;
            /** @enum {string} */
            platform: "web" | "ios" | "android";
            /** @description Language of its notifications, as a BCP 47 tag. */
            lang: string;
            /** @description In alphabetical order. */
            topics: string[];
            /** @description User who was signed in at the registration. The device receives notifications about their orders. */
            user_id: string | null;
            /**
             * @description `off` while the server is not configured to send to the platform.
             * @enum {string}
             */
            delivery: "on" | "off";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        RegistrationReply: {
            request_id: string;
            data: components["schemas"]["Registration"];
        };
        RegistrationPatch: {
            /** @description Secret of the registration, `rsec_…`, from the reply that created it. */
            management_secret: string;
            subscription?: components["schemas"]["PushSubscription"];
            /** @description For `ios` and `android`: the device's token from APNs or FCM. */
            token?: string;
            /** @description Topics of the notifications to receive in addition to those about the user's orders. */
            topics?: string[];
        };
        RemovedRegistration: {
            id: string;
            deleted: boolean;
        };
        RemovedRegistrationReply: {
            request_id: string;
            data: components["schemas"]["RemovedRegistration"];
        };
        RegistrationProof: {
            /** @description Secret of the registration, `rsec_…`, from the reply that created it. */
            management_secret: string;
        };
        Device: {
            /** @description `reg_…` */
            id: string;
            /** @enum {string} */
            platform: "web" | "ios" | "android";
            /** @description Language of its notifications, as a BCP 47 tag. */
            lang: string;
            /** @description In alphabetical order. */
            topics: string[];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        DeviceListReply: {
            request_id: string;
            data: components["schemas"]["Device"][];
            page: components["schemas"]["Page"];
        };
        AcceptedNotification: {
            /** @description `msg_…`; null for a dry run. */
            id: string | null;
            title: string;
            body: string;
            url: string | null;
            data: {
                [key: string]: string;
            };
            topic: string | null;
            user_id: string | null;
            /** @description Only devices of this language or its regional forms receive it. */
            lang: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** @description Number of devices that the message is sent to, by platform. */
            recipients: {
                /** Format: int64 */
                web: number;
                /** Format: int64 */
                ios: number;
                /** Format: int64 */
                android: number;
            };
            /** @description Platforms of these devices that the server is not configured to send to. */
            undeliverable: {
                /** @enum {string} */
                platform: "web" | "ios" | "android";
                /** @description Description of the missing configuration. */
                message: string;
            }[];
        };
        AcceptedNotificationReply: {
            request_id: string;
            data: components["schemas"]["AcceptedNotification"];
        };
        NotificationInput: {
            title: string;
            body: string;
            /** @description Sends to the devices that are registered for this topic. */
            topic?: string;
            /** @description Sends to this user's devices. App keys may send `user_id`. */
            customer_id?: string;
            /** @description Sends to every device of the store. */
            everyone?: boolean;
            /** @description Page to open: an https address or a path. */
            url?: string;
            /** @description Values for the shop's own code. Names have letters, digits and underscores, and begin with a letter. */
            data?: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description Seconds until the message expires.
             * @default 86400
             */
            ttl: number;
        };
        Notification: {
            /** @description `msg_…` */
            id: string;
            title: string;
            body: string;
            url: string | null;
            data: {
                [key: string]: string;
            };
            topic: string | null;
            user_id: string | null;
            /** @description Only devices of this language or its regional forms receive it. */
            lang: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        NotificationListReply: {
            request_id: string;
            data: components["schemas"]["Notification"][];
            page: components["schemas"]["Page"];
        };
        NotificationWithDeliveries: {
            /** @description `msg_…` */
            id: string;
            title: string;
            body: string;
            url: string | null;
            data: {
                [key: string]: string;
            };
            topic: string | null;
            user_id: string | null;
            /** @description Only devices of this language or its regional forms receive it. */
            lang: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** @description Whether all deliveries were created; until then the counts grow. */
            is_complete: boolean;
            /** @description Number of devices by state. waiting: not tried yet, or to be retried; sent: accepted by the push service; failed: rejected; dropped: the registration was removed; expired: not delivered in time. */
            deliveries: {
                /** Format: int64 */
                waiting: number;
                /** Format: int64 */
                sent: number;
                /** Format: int64 */
                failed: number;
                /** Format: int64 */
                dropped: number;
                /** Format: int64 */
                expired: number;
            };
        };
        NotificationWithDeliveriesReply: {
            request_id: string;
            data: components["schemas"]["NotificationWithDeliveries"];
        };
        SalesPeriod: {
            /** @description The first day, `2026-01-31`; of a month, `2026-01`. */
            period: string;
            currency: string;
            /**
             * Format: int64
             * @description Orders that were paid.
             */
            orders: number;
            /** Format: int64 */
            pieces: number;
            /** Format: double */
            sold: number;
            /** Format: int64 */
            sold_minor: number;
            /** Format: double */
            sold_tax: number;
            /** Format: int64 */
            sold_tax_minor: number;
            /** Format: int64 */
            returned_pieces: number;
            /** Format: double */
            returned: number;
            /** Format: int64 */
            returned_minor: number;
            /** Format: double */
            returned_tax: number;
            /** Format: int64 */
            returned_tax_minor: number;
            /** Format: double */
            received: number;
            /** Format: int64 */
            received_minor: number;
            /** Format: double */
            refunded: number;
            /** Format: int64 */
            refunded_minor: number;
        };
        SalesPeriodListReply: {
            request_id: string;
            data: components["schemas"]["SalesPeriod"][];
        };
        Todo: {
            /** @enum {string} */
            kind: "unpaid_transfer" | "to_ship" | "attention" | "low_stock" | "failed_mail" | "unknown_withdrawal";
            /** @description Id of the order, product, mail or withdrawal. */
            id: string;
            /** @description Number of the order, SKU or slug of the item, or id of the mail. */
            subject: string;
            /** @description The amount due, what needs attention, the title, the error or the sender. */
            detail: string | null;
            /**
             * Format: int64
             * @description Pieces to ship, or available pieces.
             */
            count: number | null;
            /** Format: date-time */
            since: string;
        };
        TodoListReply: {
            request_id: string;
            data: components["schemas"]["Todo"][];
        };
        Rewards: {
            user_id: string;
            /**
             * Format: int64
             * @description Points that can be spent now.
             */
            balance: number;
            /**
             * Format: double
             * @description Value of the points when they pay for an order.
             */
            value: number;
            /** Format: int64 */
            value_minor: number;
            /** @description ISO 4217. */
            currency: string;
            /** @description The points that expire next. */
            expiring: {
                /** Format: int64 */
                points: number;
                /** Format: date-time */
                expires_at: string;
            } | null;
            /**
             * Format: int64
             * @description Increases by one with every entry; 0 without entries.
             */
            version: number;
            /** Format: date-time */
            updated_at: string | null;
        };
        RewardsReply: {
            request_id: string;
            data: components["schemas"]["Rewards"];
        };
        RewardEntry: {
            /** @description `rwd_…` */
            id: string;
            user_id: string;
            /** @enum {string} */
            kind: "earn" | "redeem" | "reverse" | "expire" | "adjust";
            /**
             * Format: int64
             * @description Negative if the entry reduces the balance.
             */
            points: number;
            /**
             * Format: int64
             * @description Balance after the entry.
             */
            balance: number;
            source: string | null;
            order_id: string | null;
            note: string | null;
            /** Format: date-time */
            created_at: string;
        };
        RewardEntryListReply: {
            request_id: string;
            data: components["schemas"]["RewardEntry"][];
            page: components["schemas"]["Page"];
        };
        RewardEntryReply: {
            request_id: string;
            data: components["schemas"]["RewardEntry"];
        };
        RedeemInput: {
            /** Format: int64 */
            points: number;
            note?: string;
            /** @description Your reference for the entry. A source is booked only once. */
            source?: string;
            /** @description Id of the user, if the caller is staff or an app key. */
            customer_id?: string;
        };
        AdjustInput: {
            /**
             * Format: int64
             * @description Points to add; negative to subtract. Must not be 0.
             */
            points: number;
            note: string;
            /** @description Your reference for the entry. A source is booked only once. */
            source?: string;
            /** @description Id of the user, if the caller is staff or an app key. */
            customer_id?: string;
        };
        LoginCodeRequest: {
            email: string;
        };
        Store: {
            namespace: string;
            title: string;
            domain: string | null;
            url: string | null;
            /** @description ISO 4217. */
            currency: string;
            currency_sign: string;
            logo: string | null;
        };
        LoginSession: {
            /** @description `usr_…` */
            user_id: string;
            /** @description `v2.…`; returned only once. */
            token: string;
            /** Format: date-time */
            expires_at: string;
            store: components["schemas"]["Store"];
        };
        LoginSessionReply: {
            request_id: string;
            data: components["schemas"]["LoginSession"];
        };
        LoginInput: {
            /** @description Case is ignored. */
            email: string;
            /** @description Required without `code`. */
            password?: string;
            /** @description Instead of `password`: the six digits that `POST /auth/code/` mailed, as a string. */
            code?: string;
            /** @description Six digits from the authenticator, or a recovery code. Required, and not empty, if two-factor authentication is enabled. */
            otp?: string;
            /** @description Visitor token. The visitor's likes and bookmarks become the user's. An invalid token is ignored. */
            visitor?: string;
            /**
             * Format: int64
             * @description Seconds until the token expires, at most the lifetime that the store sets.
             */
            expires_in?: number;
        };
        Session: {
            /** @description `usr_…` */
            user_id: string;
            /** @description `v2.…`; returned only once. */
            token: string;
            /** Format: date-time */
            expires_at: string;
        };
        SessionReply: {
            request_id: string;
            data: components["schemas"]["Session"];
        };
        RevokedSession: {
            revoked: boolean;
        };
        RevokedSessionReply: {
            request_id: string;
            data: components["schemas"]["RevokedSession"];
        };
        PasswordChange: {
            /** @description Current password of the user. */
            current_password: string;
            /** @description At least 16 characters with lowercase, uppercase, digit and special character; not a common password. */
            password: string;
        };
        ShippingRate: {
            /** @description `ship_…`; stays the same while zone and name stay the same. */
            id: string;
            /** @description All rates of a zone must have the same countries and postcodes. */
            zone: string;
            /** @description ISO 3166-1 alpha-2 in capitals; `*` stands for all other countries. */
            countries: string[];
            /** @description Beginnings of postcodes; an empty list is the whole country. */
            postcodes?: string[];
            /** @description The name that buyers see. Unique in its zone. */
            name: string;
            /** @description The name in other languages, by language code. */
            names?: {
                [key: string]: string;
            };
            /** Format: double */
            price: number;
            /**
             * Format: double
             * @description From this value of goods, after discount, shipping costs 0.
             */
            free_from?: number | null;
            /**
             * Format: double
             * @description The lowest value of goods, after discount. Without it, there is no limit.
             */
            min_value?: number | null;
            /**
             * Format: double
             * @description The highest value of goods, after discount. Without it, there is no limit.
             */
            max_value?: number | null;
            /**
             * Format: int64
             * @description The lowest weight. Without it, there is no limit.
             */
            min_weight_g?: number | null;
            /**
             * Format: int64
             * @description The highest weight. Without it, there is no limit.
             */
            max_weight_g?: number | null;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class?: string | null;
        };
        ListShippingRatesReply: {
            request_id: string;
            data: (components["schemas"]["ShippingOffer"] | components["schemas"]["ShippingRate"])[];
        };
        ShippingRateListReply: {
            request_id: string;
            data: components["schemas"]["ShippingRate"][];
        };
        ShippingRateInput: {
            /** @description All rates of a zone must have the same countries and postcodes. */
            zone: string;
            /** @description ISO 3166-1 alpha-2 in capitals; `*` stands for all other countries. */
            countries: string[];
            /** @description Beginnings of postcodes; an empty list is the whole country. */
            postcodes?: string[];
            /** @description The name that buyers see. Unique in its zone. */
            name: string;
            /** @description The name in other languages, by language code. */
            names?: {
                [key: string]: string;
            };
            /** Format: double */
            price: number;
            /**
             * Format: double
             * @description From this value of goods, after discount, shipping costs 0.
             */
            free_from?: number | null;
            /**
             * Format: double
             * @description The lowest value of goods, after discount. Without it, there is no limit.
             */
            min_value?: number | null;
            /**
             * Format: double
             * @description The highest value of goods, after discount. Without it, there is no limit.
             */
            max_value?: number | null;
            /**
             * Format: int64
             * @description The lowest weight. Without it, there is no limit.
             */
            min_weight_g?: number | null;
            /**
             * Format: int64
             * @description The highest weight. Without it, there is no limit.
             */
            max_weight_g?: number | null;
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            tax_class?: string | null;
        };
        ShippingRates: {
            /** @description Replaces all rates of the store. */
            rates: components["schemas"]["ShippingRateInput"][];
        };
        SignUpReply: {
            accepted: boolean;
            /**
             * @description `verify`: the account is created once the mailed code is verified. `login`: the account exists now.
             * @enum {string}
             */
            next: "verify" | "login";
        };
        SignUpReplyReply: {
            request_id: string;
            data: components["schemas"]["SignUpReply"];
        };
        SignUp: {
            /** Format: email */
            email: string;
            /** @description At least 16 characters with lowercase, uppercase, digit and special character; not a common password. */
            password: string;
            name?: string;
            /** @description Visitor token. The visitor's likes and bookmarks become the user's. An invalid token is ignored. */
            visitor?: string;
        };
        Verified: {
            verified: boolean;
        };
        VerifiedReply: {
            request_id: string;
            data: components["schemas"]["Verified"];
        };
        SignUpVerification: {
            email: string;
            /** @description The six digits from the mail, as a string, because they may begin with zeros. */
            code: string;
            /** @description The password of the sign-up. */
            password: string;
        };
        ResendVerification: {
            email: string;
        };
        StoreProfile: {
            namespace: string;
            title: string;
            domain: string | null;
            url: string | null;
            /** @description ISO 4217. */
            currency: string;
            currency_sign: string;
            logo: string | null;
            /** @description Language of texts without `lang`. */
            language: string;
            /** @description This language, and those of its newest 50 public products. */
            languages: string[];
            /** @description ISO 3166-1 alpha-2. */
            country: string | null;
            prices_include_tax: boolean;
            /** @description Shown in place of "incl. VAT" by stores that charge none. */
            tax_note: string | null;
            /** @description Addresses of legal texts, such as `imprint`, `terms`, `withdrawal` and `privacy`. */
            legal_urls: {
                [key: string]: string;
            };
            /** @description The page that shows a guest's order. */
            order_url: string | null;
            /** @description How to pay by bank transfer. */
            transfer_instructions: string | null;
            /**
             * Format: int64
             * @description Seconds for which an unpaid order reserves stock.
             */
            hold: number;
            /**
             * Format: int64
             * @description Seconds for which an order waits for a bank transfer.
             */
            transfer_hold: number;
            /** @description How orders can be paid. */
            payment_methods: ("manual" | "stripe")[];
            /** @description Whether orders of goods that are sent need a shipping rate. */
            has_shipping_rates: boolean;
            /**
             * @description `off`: customers cannot sign up. `open`: they can sign in before they have entered the mailed code.
             * @enum {string}
             */
            sign_up: "off" | "open" | "verified";
            /** @description Whether `POST /auth/code/` mails customers a code to sign in with. */
            sign_in_by_mail: boolean;
        };
        StoreProfileReply: {
            request_id: string;
            data: components["schemas"]["StoreProfile"];
        };
        TaxRate: {
            /** @description `standard`, `reduced`, `zero`, or a name that the store chooses. */
            class: string;
            /** @description ISO 3166-1 alpha-2, in capitals. */
            country: string;
            /**
             * Format: double
             * @description In percent, with at most three decimals.
             */
            rate: number;
        };
        TaxRates: {
            /** @description Replaces all rates of the store. */
            rates: components["schemas"]["TaxRate"][];
        };
        TaxRatesReply: {
            request_id: string;
            data: components["schemas"]["TaxRates"];
        };
        TwoFactorState: {
            enabled: boolean;
            /** Format: date-time */
            confirmed_at: string | null;
            /** Format: int64 */
            recovery_codes_left: number;
        };
        TwoFactorStateReply: {
            request_id: string;
            data: components["schemas"]["TwoFactorState"];
        };
        TwoFactorEnrolment: {
            /** @description The secret in base32, to type into an authenticator. */
            secret: string;
            /** @description The secret as an `otpauth:` URI, which authenticators open. */
            otpauth_uri: string;
            /** @description The URI as a QR code, in SVG. */
            qr_svg: string;
        };
        TwoFactorEnrolmentReply: {
            request_id: string;
            data: components["schemas"]["TwoFactorEnrolment"];
        };
        PasswordProof: {
            /** @description Current password of the user. */
            password: string;
        };
        RecoveryCodes: {
            recovery_codes: string[];
            /** @description Advice to show to the user when two-factor has just been enabled. */
            next_step?: string;
        };
        RecoveryCodesReply: {
            request_id: string;
            data: components["schemas"]["RecoveryCodes"];
        };
        OtpProof: {
            /** @description Six digits from the authenticator or, once two-factor authentication is enabled, a recovery code. */
            otp: string;
        };
        TwoFactorDisabled: {
            enabled: boolean;
        };
        TwoFactorDisabledReply: {
            request_id: string;
            data: components["schemas"]["TwoFactorDisabled"];
        };
        PasswordAndOtpProof: {
            /** @description Current password of the user. */
            password: string;
            /** @description Six digits from the authenticator or, once two-factor authentication is enabled, a recovery code. */
            otp: string;
        };
        UserListReply: {
            request_id: string;
            data: components["schemas"]["User"][];
            page: components["schemas"]["Page"];
        };
        UserInput: {
            /**
             * Format: email
             * @description Unique in the store, ignoring case.
             */
            email: string;
            name?: string | null;
            phone?: string | null;
            addresses?: components["schemas"]["Address"][];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description Staff manage the store's records; owners also manage staff.
             * @enum {string}
             */
            role?: "customer" | "staff" | "owner";
            /**
             * @description A disabled user cannot log in; their token is revoked at once.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description Whether the user has proved that the email address is theirs. */
            email_verified?: boolean;
            /** @description At least 16 characters with lowercase, uppercase, digit and special character; not a common password. */
            password?: string;
            /** @description Instead of `password`: a bcrypt or argon2 (PHC) hash from another system. It is replaced at the next login. */
            password_hash?: string;
        };
        UserPatch: {
            /**
             * Format: email
             * @description Unique in the store, ignoring case.
             */
            email?: string;
            name?: string | null;
            phone?: string | null;
            addresses?: components["schemas"]["Address"][];
            /** @description Any JSON object of at most 16 KiB. PATCH merges it (RFC 7396). */
            metadata?: {
                [key: string]: unknown;
            };
            /**
             * @description Staff manage the store's records; owners also manage staff.
             * @enum {string}
             */
            role?: "customer" | "staff" | "owner";
            /**
             * @description A disabled user cannot log in; their token is revoked at once.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description Whether the user has proved that the email address is theirs. */
            email_verified?: boolean;
        };
        DeletedUser: {
            id: string;
            deleted: boolean;
        };
        DeletedUserReply: {
            request_id: string;
            data: components["schemas"]["DeletedUser"];
        };
        VariantListReply: {
            request_id: string;
            data: components["schemas"]["Variant"][];
            page: components["schemas"]["Page"];
        };
        VariantReply: {
            request_id: string;
            data: components["schemas"]["Variant"];
        };
        DeletedVariant: {
            id: string;
            deleted: boolean;
        };
        DeletedVariantReply: {
            request_id: string;
            data: components["schemas"]["DeletedVariant"];
        };
        ViewsOfDay: {
            /**
             * Format: date
             * @description Day in UTC.
             */
            day: string;
            /** Format: int64 */
            count: number;
        };
        Views: {
            /** @description Whether the caller's view counts today; false for bots. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of all views. New views are added within a second.
             */
            count: number;
            /** @description Views by day, oldest first. Days without views have the count 0. */
            days: components["schemas"]["ViewsOfDay"][];
        };
        ViewsReply: {
            request_id: string;
            data: components["schemas"]["Views"];
        };
        ResourceViewState: {
            /** @description Id of the resource, such as `prod_…`. */
            resource_id: string;
            /** @description Whether the caller's view counts today; false for bots. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of all views. New views are added within a second.
             */
            count: number;
        };
        ResourceViewStateListReply: {
            request_id: string;
            data: components["schemas"]["ResourceViewState"][];
        };
        GetViewsReply: components["schemas"]["ViewsReply"] | components["schemas"]["ResourceViewStateListReply"];
        ViewState: {
            /** @description Whether the caller's view counts today; false for bots. */
            active: boolean;
            /**
             * Format: int64
             * @description Number of all views. New views are added within a second.
             */
            count: number;
        };
        ViewStateReply: {
            request_id: string;
            data: components["schemas"]["ViewState"];
        };
        ViewInput: {
            /** @description `product`, or a type that the store declared. */
            resource_type: string;
            /** @description Id of the resource, such as `prod_…`. */
            resource_id: string;
            /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
            visitor?: string;
        };
        WishlistProduct: {
            /** @description `prod_…` */
            id: string;
            /** @description Title in the requested language, if the product has one. */
            title: string;
            slug: string;
            /** @description URL of the first picture. */
            image: string | null;
        };
        WishlistItem: {
            /** @description `wish_…` */
            id: string;
            product_id: string;
            variant_id: string | null;
            note: string | null;
            /**
             * Format: double
             * @description Price when the product or its variant was added.
             */
            price_at_add: number;
            /**
             * Format: int64
             * @description Amount in minor units of `currency`.
             */
            price_at_add_minor: number;
            /** @description ISO 4217. */
            currency: string;
            product: components["schemas"]["WishlistProduct"] | null;
            /**
             * Format: double
             * @description Current price; null if the product is not for sale.
             */
            price: number | null;
            /**
             * Format: int64
             * @description Amount in minor units of `currency`.
             */
            price_minor: number | null;
            /** @description Whether the product can be ordered now. */
            available: boolean;
            /**
             * Format: int64
             * @description Increases by one with every write; sent as `ETag`.
             */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        WishlistItemListReply: {
            request_id: string;
            data: components["schemas"]["WishlistItem"][];
            page: components["schemas"]["Page"];
        };
        WishlistItemReply: {
            request_id: string;
            data: components["schemas"]["WishlistItem"];
        };
        WishlistInput: {
            product_id: string;
            /** @description Id of the chosen variant of the product. */
            variant_id?: string | null;
            note?: string | null;
            /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
            customer_id?: string;
        };
        WishlistReplacement: {
            /** @description Read-only: ignored. */
            id?: unknown;
            /** @description Read-only: ignored. */
            product_id?: unknown;
            /** @description Id of the chosen variant of the product. */
            variant_id?: string | null;
            note?: string | null;
            /** @description Read-only: ignored. */
            price_at_add?: unknown;
            /** @description Read-only: ignored. */
            price_at_add_minor?: unknown;
            /** @description Read-only: ignored. */
            currency?: unknown;
            /** @description Read-only: ignored. */
            product?: unknown;
            /** @description Read-only: ignored. */
            price?: unknown;
            /** @description Read-only: ignored. */
            price_minor?: unknown;
            /** @description Read-only: ignored. */
            available?: unknown;
            /** @description Read-only: ignored. */
            version?: unknown;
            /** @description Read-only: ignored. */
            created_at?: unknown;
            /** @description Read-only: ignored. */
            updated_at?: unknown;
        };
        RemovedWishlistItem: {
            id: string;
            product_id: string;
            deleted: boolean;
        };
        RemovedWishlistItemReply: {
            request_id: string;
            data: components["schemas"]["RemovedWishlistItem"];
        };
    };
    responses: {
        /** @description Unchanged since the reply with this `ETag`. */
        NotModified: {
            headers: {
                [name: string]: unknown;
            };
        };
        /** @description Success */
        CategoryListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CategoryListReply"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5203 (401): App authentication failed. Check the secret. The key must be active and published.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5205 (401): Token not found or mismatch. Log in again for a new token.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5207 (401): The token is expired or revoked. Refresh the token or log in again.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         *
         *     5300 (403): Not permitted. Use credentials that have the required permission.
         */
        ReadError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description An error.
         *
         *     5000 (500): Internal error. Try again. If the error persists, report the request_id.
         *
         *     5001 (503): Temporarily unavailable. Try again shortly.
         */
        ServerError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        CategoryReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CategoryReply"];
            };
        };
        /** @description 5301: Not found. */
        notFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description 5302: The request conflicts with an existing record.
         *
         *     5306: The record's current state does not allow this.
         *
         *     5307: This idempotency key was used for another request.
         */
        conflict_wrongState_idempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5103 (415): Unsupported media type. Send `application/json` in UTF-8, uncompressed.
         *
         *     5104 (413): The body is too large. Send a smaller body.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5203 (401): App authentication failed. Check the secret. The key must be active and published.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5205 (401): Token not found or mismatch. Log in again for a new token.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5207 (401): The token is expired or revoked. Refresh the token or log in again.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         *
         *     5300 (403): Not permitted. Use credentials that have the required permission.
         */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5302: The request conflicts with an existing record. */
        conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5303: The record has changed since you read it. */
        preconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        DeletedCategoryReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeletedCategoryReply"];
            };
        };
        /** @description 5306: The record's current state does not allow this. */
        wrongState: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        DiscountListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DiscountListReply"];
            };
        };
        /** @description Success */
        DiscountReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DiscountReply"];
            };
        };
        /**
         * @description 5302: The request conflicts with an existing record.
         *
         *     5307: This idempotency key was used for another request.
         */
        conflict_idempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5307: This idempotency key was used for another request. */
        idempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        EventListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["EventListReply"];
                "text/event-stream": string;
            };
        };
        /** @description 5107: Too many requests. */
        tooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        MailTemplateListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["MailTemplateListReply"];
            };
        };
        /** @description Success */
        MailTemplateReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["MailTemplateReply"];
            };
        };
        /** @description Success */
        MediaReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["MediaReply"];
            };
        };
        /**
         * @description 5306: The record's current state does not allow this.
         *
         *     5307: This idempotency key was used for another request.
         */
        wrongState_idempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5203 (401): App authentication failed. Check the secret. The key must be active and published.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5205 (401): Token not found or mismatch. Log in again for a new token.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5207 (401): The token is expired or revoked. Refresh the token or log in again.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         */
        ReadPublicError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        OrderListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OrderListReply"];
            };
        };
        /** @description Success */
        WithdrawalListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WithdrawalListReply"];
            };
        };
        /** @description Success */
        OrderReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OrderReply"];
            };
        };
        /**
         * @description 5302: The request conflicts with an existing record.
         *
         *     5304: Out of stock.
         *
         *     5305: Not enough points.
         *
         *     5307: This idempotency key was used for another request.
         *
         *     5308: The store does not deliver to this address.
         *
         *     5309: The discount code does not apply.
         */
        conflict_outOfStock_notEnoughPoints_idempotencyKeyReused_notDelivered_discountRefused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        AcceptedReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AcceptedReply"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5103 (415): Unsupported media type. Send `application/json` in UTF-8, uncompressed.
         *
         *     5104 (413): The body is too large. Send a smaller body.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         */
        UnsignedError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        ResetPasswordReplyReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ResetPasswordReplyReply"];
            };
        };
        /**
         * @description 5102: Validation failed.
         *
         *     5217: The password is too weak.
         */
        validationFailed_weakPassword: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5213: Too many attempts. */
        tooManyAttempts: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5216: The code is invalid, used or expired. */
        resetCodeInvalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        UserReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserReply"];
            };
        };
        /** @description Success */
        CheckoutReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CheckoutReply"];
            };
        };
        /** @description Success */
        WebhookReceivedReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookReceivedReply"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5103 (415): Unsupported media type. Send `application/json` in UTF-8, uncompressed.
         *
         *     5104 (413): The body is too large. Send a smaller body.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         */
        SignedError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        InvoiceListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["InvoiceListReply"];
            };
        };
        /** @description Success */
        PersonalDataReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PersonalDataReply"];
            };
        };
        /** @description Success */
        ErasedReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErasedReply"];
            };
        };
        /**
         * @description 5211: A two-factor code is required.
         *
         *     5212: Invalid email, password or one-time code.
         */
        twoFactorRequired_invalidLogin: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        ProductListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ProductListReply"];
            };
        };
        /** @description Success */
        ProductReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ProductReply"];
            };
        };
        /** @description Success */
        DeletedProductReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeletedProductReply"];
            };
        };
        /**
         * @description 5107: Too many requests.
         *
         *     5213: Too many attempts.
         */
        tooManyRequests_tooManyAttempts: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description 5212: Invalid email, password or one-time code. */
        invalidLogin: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        GetLikesReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GetLikesReply"];
            };
        };
        /** @description Success */
        AddedReactionReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AddedReactionReply"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5103 (415): Unsupported media type. Send `application/json` in UTF-8, uncompressed.
         *
         *     5104 (413): The body is too large. Send a smaller body.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5203 (401): App authentication failed. Check the secret. The key must be active and published.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5205 (401): Token not found or mismatch. Log in again for a new token.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5207 (401): The token is expired or revoked. Refresh the token or log in again.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5215 (404): Store not found. Check `namespace`.
         */
        PublicError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        ReactionStateReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ReactionStateReply"];
            };
        };
        /** @description Success */
        GetBookmarksReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GetBookmarksReply"];
            };
        };
        /** @description Success */
        PushOfferReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PushOfferReply"];
            };
        };
        /** @description Success */
        CreatedRegistrationReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CreatedRegistrationReply"];
            };
        };
        /**
         * @description 5302: The request conflicts with an existing record.
         *
         *     5306: The record's current state does not allow this.
         */
        conflict_wrongState: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        RegistrationReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RegistrationReply"];
            };
        };
        /** @description Success */
        RemovedRegistrationReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RemovedRegistrationReply"];
            };
        };
        /** @description Success */
        DeviceListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeviceListReply"];
            };
        };
        /** @description Success */
        AcceptedNotificationReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AcceptedNotificationReply"];
            };
        };
        /** @description Success */
        NotificationListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotificationListReply"];
            };
        };
        /** @description Success */
        NotificationWithDeliveriesReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NotificationWithDeliveriesReply"];
            };
        };
        /** @description Success */
        SalesPeriodListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SalesPeriodListReply"];
            };
        };
        /** @description Success */
        TodoListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TodoListReply"];
            };
        };
        /** @description Success */
        RewardsReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RewardsReply"];
            };
        };
        /** @description Success */
        RewardEntryListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RewardEntryListReply"];
            };
        };
        /** @description Success */
        RewardEntryReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RewardEntryReply"];
            };
        };
        /**
         * @description 5302: The request conflicts with an existing record.
         *
         *     5305: Not enough points.
         *
         *     5307: This idempotency key was used for another request.
         */
        conflict_notEnoughPoints_idempotencyKeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        LoginSessionReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["LoginSessionReply"];
            };
        };
        /** @description Success */
        SessionReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SessionReply"];
            };
        };
        /**
         * @description An error.
         *
         *     5100 (400): Malformed request. Correct the request. The message says what is wrong.
         *
         *     5101 (400): `namespace` is missing. Send `namespace` in the query or in the body.
         *
         *     5102 (422): Validation failed. Correct the fields listed in `details`.
         *
         *     5103 (415): Unsupported media type. Send `application/json` in UTF-8, uncompressed.
         *
         *     5104 (413): The body is too large. Send a smaller body.
         *
         *     5202 (400): Invalid app credential params. Send `app_id`, `app_secret` and `namespace`, all valid.
         *
         *     5203 (401): App authentication failed. Check the secret. The key must be active and published.
         *
         *     5204 (400): Invalid token params. Send `token`, `user_id` and `namespace`.
         *
         *     5206 (401): Authentication failed: no method succeeded. Send app credentials or a user token.
         *
         *     5209 (429): Too many authentication attempts from this address. Wait for the number of seconds in `Retry-After`.
         *
         *     5214 (401): The user token is invalid, expired or revoked. Log in again.
         *
         *     5215 (404): Store not found. Check `namespace`.
         *
         *     5300 (403): Not permitted. Use credentials that have the required permission.
         */
        OwnTokenError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success */
        RevokedSessionReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RevokedSessionReply"];
            };
        };
        /** @description Success */
        ListShippingRatesReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ListShippingRatesReply"];
            };
        };
        /** @description Success */
        ShippingRateListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ShippingRateListReply"];
            };
        };
        /** @description Success */
        SignUpReplyReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SignUpReplyReply"];
            };
        };
        /** @description Success */
        VerifiedReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["VerifiedReply"];
            };
        };
        /** @description Success */
        StoreProfileReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["StoreProfileReply"];
            };
        };
        /** @description Success */
        TaxRatesReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TaxRatesReply"];
            };
        };
        /** @description Success */
        TwoFactorStateReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TwoFactorStateReply"];
            };
        };
        /** @description Success */
        TwoFactorEnrolmentReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TwoFactorEnrolmentReply"];
            };
        };
        /** @description Success */
        RecoveryCodesReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RecoveryCodesReply"];
            };
        };
        /** @description Success */
        TwoFactorDisabledReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TwoFactorDisabledReply"];
            };
        };
        /** @description Success */
        UserListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UserListReply"];
            };
        };
        /** @description Success */
        DeletedUserReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeletedUserReply"];
            };
        };
        /** @description Success */
        VariantListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["VariantListReply"];
            };
        };
        /** @description Success */
        VariantReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["VariantReply"];
            };
        };
        /** @description Success */
        DeletedVariantReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["DeletedVariantReply"];
            };
        };
        /** @description Success */
        GetViewsReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GetViewsReply"];
            };
        };
        /** @description Success */
        ViewStateReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ViewStateReply"];
            };
        };
        /** @description Success */
        WishlistItemListReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WishlistItemListReply"];
            };
        };
        /** @description Success */
        WishlistItemReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WishlistItemReply"];
            };
        };
        /** @description Success */
        RemovedWishlistItemReply: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RemovedWishlistItemReply"];
            };
        };
    };
    parameters: {
        /** @description Namespace of the store. */
        namespace: string;
        /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
        lang: string;
        /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
        If_Match: string;
        /** @description `ETag` values, or `*`. If one of them is the present `ETag`, the reply is 304 without a body. Browsers send this header. */
        If_None_Match: string;
        /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
        X_Client_Address: string;
        /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
        Idempotency_Key: string;
        /** @description Maximum number of records. */
        limit: number;
        id: string;
        /** @description `page.next_cursor` of the previous page. */
        cursor: string;
        /** @description Whether to return the number of matches, `page.total`. */
        include_total: boolean;
        /** @description The id or the slug of the product. */
        id_2: string;
        /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
        visitor: string;
        id_3: string;
        /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
        customer_id: string;
        /** @description The id or the slug of the category. */
        id_4: string;
        /** @description At most 100 comma-separated ids; unknown ids are ignored. */
        ids: string;
        created_at_gte: string;
        created_at_gt: string;
        created_at_lte: string;
        created_at_lt: string;
        /** @description `product`, or a type that the store declared. */
        resource_type: string;
        id_5: string;
        variant_id: string;
        /** @description The id or the slug of the product. */
        product_id: string;
        id_6: string;
        updated_at_gte: string;
        updated_at_gt: string;
        updated_at_lte: string;
        updated_at_lt: string;
        fulfillment_id: string;
        /** @description `product`, or a type that the store declared. */
        resource_type_2: string;
        /** @description Repeat the parameter for several resources, at most 100. Default: all likes or bookmarks of the caller, newest first. */
        resource_id: string[];
        /** @description Id of the resource, such as `prod_…`. */
        resource_id_2: string;
        /** @description Id of the user, if the caller is staff or an app key. */
        customer_id_2: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listCategories: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description Only the children of this category, by its id; `none` for the top categories. */
                parent_id?: string;
            };
        };
        responses: {
            200: components["responses"]["CategoryListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createCategory: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryInput"];
            };
        };
        responses: {
            201: components["responses"]["CategoryReply"];
            409: components["responses"]["conflict_wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getCategory: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                /** @description The id or the slug of the category. */
                id: components["parameters"]["id_4"];
            };
        };
        responses: {
            200: components["responses"]["CategoryReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    deleteCategory: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the category. */
                id: components["parameters"]["id_4"];
            };
        };
        responses: {
            200: components["responses"]["DeletedCategoryReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    patchCategory: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the category. */
                id: components["parameters"]["id_4"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CategoryPatch"];
            };
        };
        responses: {
            200: components["responses"]["CategoryReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listDiscounts: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
            };
        };
        responses: {
            200: components["responses"]["DiscountListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createDiscount: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DiscountInput"];
            };
        };
        responses: {
            201: components["responses"]["DiscountReply"];
            409: components["responses"]["conflict_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getDiscount: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id_6"];
            };
        };
        responses: {
            200: components["responses"]["DiscountReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    endDiscount: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id_6"];
            };
        };
        responses: {
            200: components["responses"]["DiscountReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listEvents: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Id of the last event that you have received: `page.next_cursor` of the previous call. Default: from the oldest event on; for a stream, new events. */
                after?: string;
                /** @description Without `after`: only events since this time. */
                since?: string;
                /** @description Comma-separated event types or groups (`order.*`). Default: all. */
                types?: string;
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
            };
        };
        responses: {
            200: components["responses"]["EventListReply"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listMailTemplates: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                language?: "ar" | "de" | "en" | "es" | "fr" | "pt" | "zh";
            };
        };
        responses: {
            200: components["responses"]["MailTemplateListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    setMailTemplate: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MailTemplateInput"];
            };
        };
        responses: {
            200: components["responses"]["MailTemplateReply"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    uploadMedia: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["MediaUpload"];
                "image/jpeg": string;
                "image/png": string;
                "image/webp": string;
                "image/gif": string;
            };
        };
        responses: {
            /** @description The store already has this file. */
            200: components["responses"]["MediaReply"];
            201: components["responses"]["MediaReply"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getMedia: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: string;
                /** @description Width in pixels. A narrower picture is not enlarged. */
                file: "original.webp" | "320.webp" | "640.webp" | "1280.webp" | "2560.webp";
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/webp": string;
                };
            };
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadPublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listOrders: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description At most 100 comma-separated ids; unknown ids are ignored. */
                ids?: components["parameters"]["ids"];
                sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "number" | "-number";
                /** @description pending → paid → completed; pending → cancelled or expired; paid → cancelled by a full refund. */
                status?: "pending" | "paid" | "completed" | "cancelled" | "expired";
                payment_status?: "unpaid" | "partially_paid" | "paid" | "partially_refunded" | "refunded" | "payment_processing";
                number?: number;
                /** @description Only orders that need attention. */
                attention?: "any" | "late_payment" | "partial_payment" | "overpaid" | "amount_mismatch" | "refund_failed" | "refund_unassigned" | "dispute" | "withdrawal";
                /** @description Only orders with this email, ignoring case. */
                email?: string;
                /** @description A number or transfer reference, the beginning of an email or name, or part of an addressee. */
                q?: string;
                /** @description Only this customer's orders. App keys can send `user_id` instead. */
                customer_id?: string;
                "created_at[gte]"?: components["parameters"]["created_at_gte"];
                "created_at[gt]"?: components["parameters"]["created_at_gt"];
                "created_at[lte]"?: components["parameters"]["created_at_lte"];
                "created_at[lt]"?: components["parameters"]["created_at_lt"];
                "updated_at[gte]"?: components["parameters"]["updated_at_gte"];
                "updated_at[gt]"?: components["parameters"]["updated_at_gt"];
                "updated_at[lte]"?: components["parameters"]["updated_at_lte"];
                "updated_at[lt]"?: components["parameters"]["updated_at_lt"];
            };
        };
        responses: {
            200: components["responses"]["OrderListReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Replies with the result and 200, but saves nothing. The order has no `number`. A customer has six dry runs for each order a minute. */
                dry_run?: boolean;
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderInput"];
            };
        };
        responses: {
            /** @description With `dry_run=true`: the record that would be created. */
            200: components["responses"]["OrderReply"];
            201: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_outOfStock_notEnoughPoints_idempotencyKeyReused_notDelivered_discountRefused"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listWithdrawals: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description Whether an order has both the number and the email. */
                matched?: boolean;
            };
        };
        responses: {
            200: components["responses"]["WithdrawalListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    recordWithdrawal: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WithdrawalInput"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            409: components["responses"]["idempotencyKeyReused"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    correctOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OrderPatch"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    fulfillOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createFulfillment: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FulfillmentInput"];
            };
        };
        responses: {
            201: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    deleteFulfillment: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                id: components["parameters"]["id"];
                fulfillment_id: components["parameters"]["fulfillment_id"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    updateFulfillment: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                id: components["parameters"]["id"];
                fulfillment_id: components["parameters"]["fulfillment_id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrackingInput"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    resolveAttention: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttentionInput"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    mailOrderLink: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccessInput"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    forgotPassword: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForgotPassword"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            "4XX": components["responses"]["UnsignedError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    resetPassword: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetPassword"];
            };
        };
        responses: {
            200: components["responses"]["ResetPasswordReplyReply"];
            400: components["responses"]["resetCodeInvalid"];
            422: components["responses"]["validationFailed_weakPassword"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["UnsignedError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    inviteUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Invitation"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    openCheckout: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckoutInput"];
            };
        };
        responses: {
            200: components["responses"]["CheckoutReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    checkPayment: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    cancelOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    payOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PaymentInput"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    refundOrder: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Replies with the result and 200, but saves nothing. */
                dry_run?: boolean;
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RefundInput"];
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    retryRefund: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id"];
                refund_id: string;
            };
        };
        responses: {
            200: components["responses"]["OrderReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    receiveStripeEvent: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": string;
            };
        };
        responses: {
            200: components["responses"]["WebhookReceivedReply"];
            "4XX": components["responses"]["SignedError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    issueInvoices: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id"];
            };
        };
        responses: {
            200: components["responses"]["InvoiceListReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    exportOwnData: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        responses: {
            200: components["responses"]["PersonalDataReply"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    eraseOwnAccount: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Erasure"];
            };
        };
        responses: {
            200: components["responses"]["ErasedReply"];
            401: components["responses"]["twoFactorRequired_invalidLogin"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    exportUserData: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id_3"];
            };
        };
        responses: {
            200: components["responses"]["PersonalDataReply"];
            404: components["responses"]["notFound"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    eraseUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                id: components["parameters"]["id_3"];
            };
        };
        responses: {
            200: components["responses"]["ErasedReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listProducts: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description At most 100 comma-separated ids; unknown ids are ignored. */
                ids?: components["parameters"]["ids"];
                /** @description `popular` begins with the most viewed and liked products; a like counts as ten views. `relevance` begins with products that have all words of `q` in a title, and needs `q`. */
                sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "price" | "-price" | "title" | "-title" | "views_count" | "-views_count" | "popular" | "relevance";
                /** @description Search words. A product must match all of them. A search word matches the words in title, description, tags, SKU, variants and translations that begin with it, and its singular and plural. Ignores case and accents. If no product has a word of 4 to 16 letters, up to 8 words that differ in one letter after the first are searched. */
                q?: string;
                /** @description Only products with this tag. If the parameter is repeated, only products with all of these tags. `a,b` is one tag with a comma; if no product has it, the reply is 5102. */
                tag?: string[];
                /** @description Id or slug of a category: only products in the category or its descendants. For an unknown category, the reply is 5102. */
                category?: string;
                /** @description Such as `{"colour": "blue"}` or `option[colour]=blue`: only products with a variant that has all given options. */
                option?: {
                    [key: string]: string;
                };
                /** @description Only the product that has this SKU, or a variant with it. Ignores case. */
                sku?: string;
                /** @description If true, only products that can be ordered now. */
                available?: boolean;
                /** @description If true, only products with a former price above the present one, or with such a variant. */
                on_sale?: boolean;
                /** @description Comma-separated: `tags`, `categories`, `options`, `price`. Returns how many products have each value, as `page.facets`. Each facet counts products that match the other filters. */
                facets?: string;
                /** @description Only the product with this slug. */
                slug?: string;
                /** @description Customers and storefront keys see published products only. */
                status?: "draft" | "published" | "archived";
                /** @description In the store's currency. */
                "price[gte]"?: number;
                /** @description In the store's currency. */
                "price[gt]"?: number;
                /** @description In the store's currency. */
                "price[lte]"?: number;
                /** @description In the store's currency. */
                "price[lt]"?: number;
                "created_at[gte]"?: components["parameters"]["created_at_gte"];
                "created_at[gt]"?: components["parameters"]["created_at_gt"];
                "created_at[lte]"?: components["parameters"]["created_at_lte"];
                "created_at[lt]"?: components["parameters"]["created_at_lt"];
                "updated_at[gte]"?: components["parameters"]["updated_at_gte"];
                "updated_at[gt]"?: components["parameters"]["updated_at_gt"];
                "updated_at[lte]"?: components["parameters"]["updated_at_lte"];
                "updated_at[lt]"?: components["parameters"]["updated_at_lt"];
            };
            header?: {
                /** @description `ETag` values, or `*`. If one of them is the present `ETag`, the reply is 304 without a body. Browsers send this header. */
                "If-None-Match"?: components["parameters"]["If_None_Match"];
            };
        };
        responses: {
            200: components["responses"]["ProductListReply"];
            304: components["responses"]["NotModified"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createProduct: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductInput"];
            };
        };
        responses: {
            201: components["responses"]["ProductReply"];
            409: components["responses"]["conflict_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getProduct: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description `ETag` values, or `*`. If one of them is the present `ETag`, the reply is 304 without a body. Browsers send this header. */
                "If-None-Match"?: components["parameters"]["If_None_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        responses: {
            200: components["responses"]["ProductReply"];
            304: components["responses"]["NotModified"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    replaceProduct: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductReplacement"];
            };
        };
        responses: {
            200: components["responses"]["ProductReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    deleteProduct: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        responses: {
            200: components["responses"]["DeletedProductReply"];
            404: components["responses"]["notFound"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    patchProduct: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProductPatch"];
            };
        };
        responses: {
            200: components["responses"]["ProductReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getOwnProfile: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    patchOwnProfile: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProfilePatch"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            401: components["responses"]["invalidLogin"];
            412: components["responses"]["preconditionFailed"];
            429: components["responses"]["tooManyRequests_tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    verifyOwnEmail: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailCode"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            400: components["responses"]["resetCodeInvalid"];
            409: components["responses"]["conflict"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    resendEmailCode: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getLikes: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description `product`, or a type that the store declared. */
                resource_type?: components["parameters"]["resource_type_2"];
                /** @description Repeat the parameter for several resources, at most 100. Default: all likes or bookmarks of the caller, newest first. */
                resource_id?: components["parameters"]["resource_id"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
            };
        };
        responses: {
            200: components["responses"]["GetLikesReply"];
            404: components["responses"]["notFound"];
            /** @description The URL is too long. No body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
            };
            "4XX": components["responses"]["ReadPublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    addLike: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReactionInput"];
            };
        };
        responses: {
            200: components["responses"]["AddedReactionReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    removeLike: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description `product`, or a type that the store declared. */
                resource_type: components["parameters"]["resource_type"];
                /** @description Id of the resource, such as `prod_…`. */
                resource_id: components["parameters"]["resource_id_2"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VisitorInput"];
            };
        };
        responses: {
            200: components["responses"]["ReactionStateReply"];
            404: components["responses"]["notFound"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getBookmarks: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description `product`, or a type that the store declared. */
                resource_type?: components["parameters"]["resource_type_2"];
                /** @description Repeat the parameter for several resources, at most 100. Default: all likes or bookmarks of the caller, newest first. */
                resource_id?: components["parameters"]["resource_id"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
            };
        };
        responses: {
            200: components["responses"]["GetBookmarksReply"];
            404: components["responses"]["notFound"];
            /** @description The URL is too long. No body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
            };
            "4XX": components["responses"]["ReadPublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    addBookmark: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReactionInput"];
            };
        };
        responses: {
            200: components["responses"]["AddedReactionReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    removeBookmark: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description `product`, or a type that the store declared. */
                resource_type: components["parameters"]["resource_type"];
                /** @description Id of the resource, such as `prod_…`. */
                resource_id: components["parameters"]["resource_id_2"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VisitorInput"];
            };
        };
        responses: {
            200: components["responses"]["ReactionStateReply"];
            404: components["responses"]["notFound"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getPushOffer: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        responses: {
            200: components["responses"]["PushOfferReply"];
            "4XX": components["responses"]["ReadPublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    registerDevice: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegistrationInput"];
            };
        };
        responses: {
            /** @description The device was already registered. Its registration was renewed. */
            200: components["responses"]["CreatedRegistrationReply"];
            201: components["responses"]["CreatedRegistrationReply"];
            409: components["responses"]["conflict_wrongState"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    removeRegistration: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
            path: {
                id: components["parameters"]["id_5"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegistrationProof"];
            };
        };
        responses: {
            200: components["responses"]["RemovedRegistrationReply"];
            404: components["responses"]["notFound"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    changeRegistration: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
            path: {
                id: components["parameters"]["id_5"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegistrationPatch"];
            };
        };
        responses: {
            200: components["responses"]["RegistrationReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listOwnDevices: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
            };
        };
        responses: {
            200: components["responses"]["DeviceListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    removeOwnDevice: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id_5"];
            };
        };
        responses: {
            200: components["responses"]["RemovedRegistrationReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    sendNotification: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Checks the message and counts its devices, but sends nothing. The status is 200. */
                dry_run?: boolean;
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotificationInput"];
            };
        };
        responses: {
            /** @description With `dry_run=true`: the record that would be created. */
            200: components["responses"]["AcceptedNotificationReply"];
            201: components["responses"]["AcceptedNotificationReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listNotifications: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
            };
        };
        responses: {
            200: components["responses"]["NotificationListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getNotification: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: components["responses"]["NotificationWithDeliveriesReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    reportSales: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description A year, month or day in the store's time zone, a duration such as `30d`, or a time. Default: `30d`. */
                since?: string;
                /** @description The end, which is not included. Default: now. */
                until?: string;
                by?: "day" | "week" | "month";
            };
        };
        responses: {
            200: components["responses"]["SalesPeriodListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listTodo: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
            };
        };
        responses: {
            200: components["responses"]["TodoListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getRewards: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Id of the user, if the caller is staff or an app key. */
                customer_id?: components["parameters"]["customer_id_2"];
            };
        };
        responses: {
            200: components["responses"]["RewardsReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listRewardEntries: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                "created_at[gte]"?: components["parameters"]["created_at_gte"];
                "created_at[gt]"?: components["parameters"]["created_at_gt"];
                "created_at[lte]"?: components["parameters"]["created_at_lte"];
                "created_at[lt]"?: components["parameters"]["created_at_lt"];
                kind?: "earn" | "redeem" | "reverse" | "expire" | "adjust";
                /** @description Id of the user, if the caller is staff or an app key. */
                customer_id?: components["parameters"]["customer_id_2"];
            };
        };
        responses: {
            200: components["responses"]["RewardEntryListReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    redeemPoints: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedeemInput"];
            };
        };
        responses: {
            /** @description The entry was already booked with the same `source`. */
            200: components["responses"]["RewardEntryReply"];
            201: components["responses"]["RewardEntryReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_notEnoughPoints_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    adjustRewards: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdjustInput"];
            };
        };
        responses: {
            /** @description The entry was already booked with the same `source`. */
            200: components["responses"]["RewardEntryReply"];
            201: components["responses"]["RewardEntryReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_notEnoughPoints_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    requestLoginCode: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginCodeRequest"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    login: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Visitor token. The visitor's likes and bookmarks become the user's. An invalid token is ignored. */
                visitor?: string;
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginInput"];
            };
        };
        responses: {
            200: components["responses"]["LoginSessionReply"];
            401: components["responses"]["twoFactorRequired_invalidLogin"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["UnsignedError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    refreshToken: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: components["responses"]["SessionReply"];
            "4XX": components["responses"]["OwnTokenError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    logout: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: components["responses"]["RevokedSessionReply"];
            "4XX": components["responses"]["OwnTokenError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    changeOwnPassword: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            200: components["responses"]["SessionReply"];
            401: components["responses"]["invalidLogin"];
            422: components["responses"]["validationFailed_weakPassword"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listShippingRates: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description ISO 3166-1 alpha-2, in capitals. */
                country?: string;
                postal_code?: string;
                /** @description Value of the goods, after discount. */
                value?: number;
                /** @description Weight of the goods. */
                weight_g?: number;
            };
        };
        responses: {
            200: components["responses"]["ListShippingRatesReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    replaceShippingRates: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShippingRates"];
            };
        };
        responses: {
            200: components["responses"]["ShippingRateListReply"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    signUp: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUp"];
            };
        };
        responses: {
            200: components["responses"]["SignUpReplyReply"];
            422: components["responses"]["validationFailed_weakPassword"];
            429: components["responses"]["tooManyRequests_tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    verifySignUp: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignUpVerification"];
            };
        };
        responses: {
            200: components["responses"]["VerifiedReply"];
            400: components["responses"]["resetCodeInvalid"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    resendSignUpCode: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendVerification"];
            };
        };
        responses: {
            200: components["responses"]["AcceptedReply"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getStore: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description `ETag` values, or `*`. If one of them is the present `ETag`, the reply is 304 without a body. Browsers send this header. */
                "If-None-Match"?: components["parameters"]["If_None_Match"];
            };
        };
        responses: {
            200: components["responses"]["StoreProfileReply"];
            304: components["responses"]["NotModified"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listTaxRates: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        responses: {
            200: components["responses"]["TaxRatesReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    replaceTaxRates: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaxRates"];
            };
        };
        responses: {
            200: components["responses"]["TaxRatesReply"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getTwoFactor: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        responses: {
            200: components["responses"]["TwoFactorStateReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    beginTwoFactor: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordProof"];
            };
        };
        responses: {
            200: components["responses"]["TwoFactorEnrolmentReply"];
            401: components["responses"]["invalidLogin"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    confirmTwoFactor: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OtpProof"];
            };
        };
        responses: {
            200: components["responses"]["RecoveryCodesReply"];
            401: components["responses"]["invalidLogin"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    disableTwoFactor: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordAndOtpProof"];
            };
        };
        responses: {
            200: components["responses"]["TwoFactorDisabledReply"];
            401: components["responses"]["invalidLogin"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    renewRecoveryCodes: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordAndOtpProof"];
            };
        };
        responses: {
            200: components["responses"]["RecoveryCodesReply"];
            401: components["responses"]["invalidLogin"];
            409: components["responses"]["wrongState"];
            429: components["responses"]["tooManyAttempts"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listUsers: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description At most 100 comma-separated ids; unknown ids are ignored. */
                ids?: components["parameters"]["ids"];
                sort?: "created_at" | "-created_at" | "email" | "-email";
                /** @description A disabled user cannot log in; their token is revoked at once. */
                status?: "active" | "disabled";
                /** @description Staff manage the store's records; owners also manage staff. */
                role?: "customer" | "staff" | "owner";
                /** @description Only the user with this email, ignoring case. */
                email?: string;
                /** @description Beginning of the email or the name, ignoring case. */
                q?: string;
            };
        };
        responses: {
            200: components["responses"]["UserListReply"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    createUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserInput"];
            };
        };
        responses: {
            201: components["responses"]["UserReply"];
            409: components["responses"]["conflict_idempotencyKeyReused"];
            422: components["responses"]["validationFailed_weakPassword"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                id: components["parameters"]["id_3"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    deleteUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                id: components["parameters"]["id_3"];
            };
        };
        responses: {
            200: components["responses"]["DeletedUserReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    patchUser: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                id: components["parameters"]["id_3"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UserPatch"];
            };
        };
        responses: {
            200: components["responses"]["UserReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listVariants: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        responses: {
            200: components["responses"]["VariantListReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    addVariant: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VariantInput"];
            };
        };
        responses: {
            201: components["responses"]["VariantReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict_wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getVariant: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
                variant_id: components["parameters"]["variant_id"];
            };
        };
        responses: {
            200: components["responses"]["VariantReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    deleteVariant: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
                variant_id: components["parameters"]["variant_id"];
            };
        };
        responses: {
            200: components["responses"]["DeletedVariantReply"];
            404: components["responses"]["notFound"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    patchVariant: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                id: components["parameters"]["id_2"];
                variant_id: components["parameters"]["variant_id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VariantInput"];
            };
        };
        responses: {
            200: components["responses"]["VariantReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["conflict"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getViews: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description `product`, or a type that the store declared. */
                resource_type: components["parameters"]["resource_type"];
                /** @description Repeat the parameter for several resources, at most 100. */
                resource_id: string[];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
                /** @description For one resource: the number of days in the reply. */
                days?: number;
            };
        };
        responses: {
            200: components["responses"]["GetViewsReply"];
            404: components["responses"]["notFound"];
            /** @description The URL is too long. No body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
            };
            "4XX": components["responses"]["ReadPublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    recordView: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Token from the reply to the visitor's first write, `vis_…`. Keep it secret. */
                visitor?: components["parameters"]["visitor"];
            };
            header?: {
                /** @description Address of the customer for whom a shop's server calls. Limits then count this address. Needs a key with the scope `auth:forward`; with other keys, it is ignored. */
                "X-Client-Address"?: components["parameters"]["X_Client_Address"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ViewInput"];
                "text/plain": components["schemas"]["ViewInput"];
            };
        };
        responses: {
            200: components["responses"]["ViewStateReply"];
            404: components["responses"]["notFound"];
            429: components["responses"]["tooManyRequests"];
            "4XX": components["responses"]["PublicError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    listWishlist: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Maximum number of records. */
                limit?: components["parameters"]["limit"];
                /** @description `page.next_cursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
                /** @description Whether to return the number of matches, `page.total`. */
                include_total?: components["parameters"]["include_total"];
                /** @description Comma-separated names of the fields to return. `id` is always included. */
                fields?: string;
                /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
                customer_id?: components["parameters"]["customer_id"];
            };
        };
        responses: {
            200: components["responses"]["WishlistItemListReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    addToWishlist: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
            };
            header?: {
                /** @description If a request is repeated with the same key within 24 hours, it is not executed again and gets the first reply. */
                "Idempotency-Key"?: components["parameters"]["Idempotency_Key"];
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WishlistInput"];
            };
        };
        responses: {
            /** @description The product was already on the list. */
            200: components["responses"]["WishlistItemReply"];
            201: components["responses"]["WishlistItemReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState_idempotencyKeyReused"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    getWishlistItem: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
                customer_id?: components["parameters"]["customer_id"];
            };
            path: {
                /** @description The id or the slug of the product. */
                product_id: components["parameters"]["product_id"];
            };
        };
        responses: {
            200: components["responses"]["WishlistItemReply"];
            404: components["responses"]["notFound"];
            "4XX": components["responses"]["ReadError"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    putOnWishlist: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
                customer_id?: components["parameters"]["customer_id"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                product_id: components["parameters"]["product_id"];
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WishlistReplacement"];
            };
        };
        responses: {
            /** @description The product was on the list and has been changed. */
            200: components["responses"]["WishlistItemReply"];
            201: components["responses"]["WishlistItemReply"];
            404: components["responses"]["notFound"];
            409: components["responses"]["wrongState"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
    removeFromWishlist: {
        parameters: {
            query: {
                /** @description Namespace of the store. */
                namespace: components["parameters"]["namespace"];
                /** @description Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language. */
                lang?: components["parameters"]["lang"];
                /** @description Id of the user whose wishlist it is, if the caller is staff or an app key. An app key can also send it as `user_id`. */
                customer_id?: components["parameters"]["customer_id"];
            };
            header?: {
                /** @description An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303. */
                "If-Match"?: components["parameters"]["If_Match"];
            };
            path: {
                /** @description The id or the slug of the product. */
                product_id: components["parameters"]["product_id"];
            };
        };
        responses: {
            200: components["responses"]["RemovedWishlistItemReply"];
            404: components["responses"]["notFound"];
            412: components["responses"]["preconditionFailed"];
            "4XX": components["responses"]["Error"];
            "5XX": components["responses"]["ServerError"];
        };
    };
}
